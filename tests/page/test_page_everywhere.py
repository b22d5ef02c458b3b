"""Reports of real jobs, by the command line, by pytest and by the demo."""

from __future__ import annotations

import json
import pathlib
import re
import shutil

import pytest
from mpi_queues.cli import demo
from mpi_queues.jobs import Job
from support.builds import MpiBuild
from support.cli import mpi_queues
from support.paths import PACKAGE

pytest_plugins = ["pytester"]


def text_of(page: pathlib.Path) -> str:
    return re.sub(r"<[^>]*>", "", page.read_text(encoding="utf-8"))


def test_a_live_job_is_reported_with_its_source(debian_mpi: MpiBuild, tmp_path: pathlib.Path) -> None:
    program = demo.compile_demo(tmp_path)
    lines = demo.SOURCE.read_text(encoding="utf-8").splitlines()
    with Job(program, ranks=demo.RANKS, launcher=debian_mpi.mpirun) as job:
        with_source, without = tmp_path / "with.html", tmp_path / "without.html"
        for page, options in ((with_source, []), (without, ["--no-source"])):
            result = mpi_queues("report", "--job", str(job.launcher_pid), "-o", str(page), *options)
            assert result.status in (0, 1), str(result)
            assert result.out.startswith(f"{page}: ")
    kept = json.loads(mpi_queues("diagnose", "--recording", str(with_source), "--format", "json").out)
    assert kept["verdict"]["interval_ms"] >= 400
    assert {"tag mismatch", "deadlock"} <= {finding["kind"] for finding in kept["diagnosis"]}
    (blamed,) = [one for one in kept["diagnosis"][0]["blamed"] if one["function"] == "MPI_Irecv"]
    quoted = lines[blamed["line"] - 1].strip().replace("&", "&amp;")
    assert quoted in text_of(with_source) and quoted not in text_of(without)
    # What moved between the two looks.
    assert "Live processes were read twice" in text_of(with_source)


def test_a_failed_test_has_a_report(pytester: pytest.Pytester) -> None:
    shutil.copy(PACKAGE / "data" / "demo.mpirec", pytester.path / "demo.mpirec")
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.mpi_recording("demo.mpirec")
        def test_fails(mpi_session):
            assert not mpi_session.processes

        @pytest.mark.mpi_recording("demo.mpirec")
        def test_passes(mpi_session):
            assert mpi_session.processes

        def test_without():
            assert False
        """
    )
    result = pytester.runpytest_subprocess("--mpi-report", "reports")
    result.assert_outcomes(passed=1, failed=2)
    (page,) = (pytester.path / "reports").iterdir()
    assert page.name.endswith("test_fails.html")
    result.stdout.fnmatch_lines([f"*report: reports/{page.name}"])
    assert "rank 2 sends tag 21" in text_of(page)
    pytester.runpytest_subprocess().assert_outcomes(passed=1, failed=2)


@pytest.mark.slow
def test_a_job_of_a_failed_test_is_reported_while_it_runs(debian_mpi: MpiBuild, pytester: pytest.Pytester) -> None:
    program = demo.compile_demo(pytester.path)
    pytester.makepyfile(
        f"""
        def test_fails(mpi_job):
            job = mpi_job({str(program)!r}, ranks=3, launcher={str(debian_mpi.mpirun)!r})
            assert False
        """
    )
    pytester.runpytest_subprocess("--mpi-report", "reports").assert_outcomes(failed=1)
    (page,) = (pytester.path / "reports").iterdir()
    assert "rank 2 sends tag 21" in text_of(page)


@pytest.mark.slow
def test_a_job_that_never_was_ready_is_reported(debian_mpi: MpiBuild, pytester: pytest.Pytester) -> None:
    """Where it hangs before the line that the test waits for, it has ended once the test fails."""
    program = demo.compile_demo(pytester.path)
    pytester.makepyfile(
        f"""
        def test_fails(mpi_job):
            mpi_job({str(program)!r}, ranks=3, launcher={str(debian_mpi.mpirun)!r}, ready="never", timeout=8)
        """
    )
    pytester.runpytest_subprocess("--mpi-report", "reports").assert_outcomes(failed=1)
    (page,) = (pytester.path / "reports").iterdir()
    assert "rank 2 sends tag 21" in text_of(page)


@pytest.mark.slow
def test_the_demo_writes_one(debian_mpi: MpiBuild, tmp_path: pathlib.Path) -> None:
    result = mpi_queues("demo", environment={"TMPDIR": str(tmp_path)})
    assert result.status == 0, str(result)
    found = re.search(r"The same as a page for a browser: (.*)", result.out)
    assert found is not None, str(result)
    page = pathlib.Path(found[1])
    assert "Deadlock: rank 2 sends tag 21" in text_of(page)
    assert tmp_path in page.parents
