"""``mpi_job(..., hang_after=…)`` as a user's test suite meets it: in a pytest of its own."""

from __future__ import annotations

import pytest
from support.builds import MpiBuild
from support.watched import Compiled

pytest_plugins = ["pytester"]


def run_tests(pytester: pytest.Pytester, text: str, **outcomes: int) -> str:
    """Runs the tests with warnings as errors; what pytest says."""
    pytester.makepyfile("import pathlib, time\nimport pytest\n" + text)
    result = pytester.runpytest_subprocess("--strict-markers", "-W", "error", "--basetemp", str(pytester.path / "temp"))
    result.assert_outcomes(**outcomes)
    return "\n".join((*result.outlines, *result.errlines))


@pytest.mark.parametrize("waiting", ["job.wait()", "time.sleep(600)", "while True: job.diagnose(interval=0.1)"])
@pytest.mark.slow
def test_a_test_whose_job_hangs_fails_with_the_diagnosis(
    waiting: str, pytester: pytest.Pytester, debian_mpi: MpiBuild, program: Compiled
) -> None:
    hangs = program("moves_then_hangs", debian_mpi)
    said = run_tests(
        pytester,
        f"""
def test_it(mpi_job):
    job = mpi_job({str(hangs)!r}, launcher={str(debian_mpi.mpirun)!r}, hang_after=2, ready="ready")
    {waiting}
""",
        failed=1,
    )
    assert "The job hangs: nothing in it has moved for" in said
    assert "Deadlock: ranks 0 and 1 wait for one another" in said
    assert "moves_then_hangs.c:" in said
    directory = pytester.path / "temp" / "test_it0" / "hang"
    assert sorted(file.name for file in directory.iterdir()) == [
        "diagnosis.html",
        "diagnosis.json",
        "diagnosis.txt",
        "job.mpirec",
    ]


@pytest.mark.slow
def test_a_job_that_ends(pytester: pytest.Pytester, debian_mpich: MpiBuild, program: Compiled) -> None:
    sleeps = program("sleeps", debian_mpich)
    run_tests(
        pytester,
        f"""
def test_it(mpi_job, tmp_path):
    job = mpi_job({str(sleeps)!r}, args=["3", "1"], launcher={str(debian_mpich.mpirun)!r}, hang_after=60)
    assert job.wait() == 0
    assert not list(tmp_path.glob("hang/*"))

def test_a_program_that_says_nothing(mpi_job):
    assert mpi_job("true", launcher={str(debian_mpich.mpirun)!r}, hang_after=60).wait() == 0

def test_a_program_that_fails(mpi_job):
    assert mpi_job("false", launcher={str(debian_mpich.mpirun)!r}, hang_after=60).wait() == 1
""",
        passed=3,
    )


@pytest.mark.slow
def test_where_it_is_written(pytester: pytest.Pytester, debian_mpi: MpiBuild, program: Compiled) -> None:
    hangs = program("moves_then_hangs", debian_mpi)
    run_tests(
        pytester,
        f"""
from mpi_queues.errors import UsageError
from mpi_queues.jobs import Hang, Job

def test_it(mpi_job):
    job = mpi_job({str(hangs)!r}, launcher={str(debian_mpi.mpirun)!r}, hang_after=2, hang_directory="here")
    job.wait()

def test_without_pytest(tmp_path):
    with pytest.raises(UsageError, match="hang_directory"):
        Job({str(hangs)!r}, hang_after=2)
    with Job({str(hangs)!r}, launcher={str(debian_mpi.mpirun)!r}, hang_after=2, hang_directory=tmp_path) as job:
        with pytest.raises(Hang, match="Deadlock: ranks 0 and 1"):
            job.wait()
        # It is told once.
        job.check_hang()
""",
        failed=1,
        passed=1,
    )
    assert (pytester.path / "here" / "diagnosis.txt").exists()
