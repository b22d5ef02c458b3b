"""Jobs that are started for the demo and for users' tests: they get ready or say why not, and they end."""

from __future__ import annotations

import os
import pathlib
import re
import signal
import subprocess
import sys
import uuid
from typing import Callable, Iterator, List

import pytest
from mpi_queues import UserError
from mpi_queues.jobs import Job
from support import builds, processes

READY = "import time; print('ready', flush=True); time.sleep(1000)"


@pytest.fixture(autouse=True)
def mark(monkeypatch: pytest.MonkeyPatch) -> Iterator[bytes]:
    """Marks all that a test starts; whatever the test does, none of it stays."""
    text = f"MPI_QUEUES_TEST={uuid.uuid4()}"
    monkeypatch.setenv(*text.split("="))
    yield text.encode()
    processes.wait_until(lambda: members(text.encode()) == [], "the end of every job", 20)


def members(mark: bytes) -> List[int]:
    """Every living process that a test has started, by its environment."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return [pid for pid in found if processes.state(pid) not in (None, "Z", "X")]


def python(build: builds.MpiBuild, code: str, **options: object) -> Job:
    """A job whose ranks are a Python program."""
    return Job(sys.executable, args=["-c", code], launcher=build.mpirun, **options)  # type: ignore[arg-type]


def refused(start: Callable[[], Job]) -> str:
    with pytest.raises(UserError) as raised:
        start()
    return str(raised.value)


def test_the_ranks_are_those_that_the_launcher_has_started(mpi_build: builds.MpiBuild) -> None:
    code = "import os, time; print('rank', os.environ['OMPI_COMM_WORLD_RANK'], os.getpid()); " + READY
    with python(mpi_build, code, ranks=5) as job:
        assert len(set(job.pids)) == 5
        for rank, pid in enumerate(job.pids):
            processes.assert_running(pid)
            assert f"rank {rank} {pid}\n" in job.output
        assert processes.identity(job.launcher_pid) is not None
        assert "running" in repr(job)
    assert job.output.count("ready\n") == 5
    assert [pid for pid in (*job.pids, job.launcher_pid) if processes.identity(pid)] == []
    assert not job.directory.exists()
    job.end()
    assert "ended" in repr(job)


def test_the_ready_line_in_each_language(debian_mpi: builds.MpiBuild, tmp_path: pathlib.Path) -> None:
    from mpi_queues import jobs

    c, fortran, python_line = re.findall(r"^    (\S.*)$", (jobs.__doc__ or "").partition("Python:")[2], re.M)[:3]
    (tmp_path / "c.c").write_text(f"#include <stdio.h>\n#include <unistd.h>\nint main() {{ {c} pause(); }}\n")
    (tmp_path / "f.f90").write_text(f"program f\n{fortran}\ncall sleep(1000)\nend program\n")
    (tmp_path / "p").write_text(f"#!{sys.executable}\nimport time\n{python_line}\ntime.sleep(1000)\n")
    (tmp_path / "p").chmod(0o755)
    for compiler, source, program in (("gcc", "c.c", "c"), ("gfortran", "f.f90", "f")):
        subprocess.run([compiler, "-o", str(tmp_path / program), str(tmp_path / source)], check=True)
    for program in ("c", "f", "p"):
        with Job(tmp_path / program, launcher=debian_mpi.mpirun) as job:
            assert len(job.pids) == 2


def test_a_job_that_dies_says_what_it_printed(mpi_build: builds.MpiBuild) -> None:
    code = "import sys; print('half way'); print('no such file: mesh.dat', file=sys.stderr); sys.exit(3)"
    said = refused(lambda: python(mpi_build, code))
    assert "the job ended (status 3) before ranks 0, 1 had printed the line ready" in said
    assert "half way" in said and "no such file: mesh.dat" in said


def test_a_rank_that_is_not_ready_in_time_is_named(debian_mpi: builds.MpiBuild) -> None:
    said = refused(lambda: python(debian_mpi, NOT_RANK_1, timeout=3))
    assert "rank 1 had not printed the line ready within 3 s" in said
    assert "already" in said and "timeout=SECONDS" in said


#: Rank 1 says something that only looks like the line.
NOT_RANK_1 = (
    "import os, time\n"
    "print('already' if os.environ['OMPI_COMM_WORLD_RANK'] == '1' else 'ready', flush=True)\n"
    "time.sleep(1000)"
)


def test_the_line_is_found_among_much_output(debian_mpi: builds.MpiBuild) -> None:
    # Without an end of line for longer than any line that is kept, and lines that only contain the word.
    code = (
        "import sys, time\n"
        "for i in range(20000): print('not ready', i)\n"
        "print('x' * 3000000 + 'ready')\n"
        "print('waits', flush=True)\n"
        "time.sleep(1000)\n"
    )
    with python(debian_mpi, code, ready="waits", timeout=30) as job:
        assert len(job.output) < 1 << 20
    assert "had not printed the line ready" in refused(lambda: python(debian_mpi, code, timeout=2))


def test_the_environment_and_the_working_directory(
    debian_mpi: builds.MpiBuild, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAKEN_AWAY", "1")
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    monkeypatch.setenv("OMPI_MCA_pml", "cm")
    code = "import os; print(sorted(os.environ)); print(os.environ['OMPI_MCA_pml'], os.getcwd()); " + READY
    with python(debian_mpi, code, ranks=1, env={"GIVEN": "2", "TAKEN_AWAY": None}, cwd=tmp_path) as job:
        assert "'GIVEN'" in job.output
        assert "'TAKEN_AWAY'" not in job.output and "'SLURM_JOB_ID'" not in job.output
        assert f"cm {tmp_path}\n" in job.output
        # Nothing that our own Python, which prepares the rank, has added to itself.
        assert "'LC_CTYPE'" not in job.output or "LC_CTYPE" in os.environ


def test_signals_are_as_a_shell_would_give_them(debian_mpi: builds.MpiBuild) -> None:
    # No Python, which changes them when it starts.
    said = refused(lambda: Job("grep", args=["SigIgn", "/proc/self/status"], ranks=1, launcher=debian_mpi.mpirun))
    (ignored,) = re.findall(r"SigIgn:\s*([0-9a-f]{16})", said)
    # The C library keeps signals 32 and 33 for itself: what a parent has made of them stays.
    assert int(ignored, 16) & ~(3 << 31) == 0


def test_a_program_or_launcher_that_is_not_there(tmp_path: pathlib.Path) -> None:
    (tmp_path / "text").write_text("x")
    assert "no such file" in refused(lambda: Job(tmp_path / "nosuch"))
    assert "not executable" in refused(lambda: Job(tmp_path / "text"))
    assert "not a file" in refused(lambda: Job(tmp_path))
    assert "not found in PATH" in refused(lambda: Job("nosuch-program"))
    assert "launcher nosuch-mpirun: not found" in refused(lambda: Job("sleep", launcher="nosuch-mpirun"))
    assert str(tmp_path / "nosuch") in refused(lambda: Job("sleep", cwd=tmp_path / "nosuch"))
    assert "at least one" in refused(lambda: Job("sleep", ranks=0))


#: Starts a job, says the pids, and does what the test asks.
OWNER = """
import os, signal, sys, time
from mpi_queues.jobs import Job
job = Job(sys.executable, args=["-c", {ready!r}], ranks=3, launcher={mpirun!r})
print(job.directory, *job.pids, flush=True)
{then}
"""


@pytest.mark.parametrize(
    "then",
    [
        "os.kill(os.getpid(), signal.SIGKILL)",
        "os._exit(1)",
        "raise RuntimeError",
        "sys.exit()",
        "os.kill(job._keeper.pid, signal.SIGTERM); time.sleep(0.1); sys.exit()",
        "child = os.fork()\nif not child: time.sleep(100)\njob.end(); os.kill(child, signal.SIGKILL)",
    ],
    ids=["killed", "_exit", "error", "exit", "keeper told to end", "forked"],
)
def test_a_job_ends_with_its_owner(mpi_build: builds.MpiBuild, then: str) -> None:
    code = OWNER.format(ready=READY, mpirun=str(mpi_build.mpirun), then=then)
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    directory, *words = owner.stdout.readline().split()
    pids = [int(word) for word in words]
    assert len(pids) == 3 and pathlib.Path(directory).is_dir()
    processes.wait_until(lambda: all(processes.state(pid) in (None, "Z") for pid in pids), "the end of the job", 20)
    owner.communicate(timeout=60)
    processes.wait_until(lambda: not pathlib.Path(directory).exists(), "the removal of the job's directory", 20)


def test_ctrl_c_while_the_job_starts(debian_mpi: builds.MpiBuild, mark: bytes) -> None:
    code = (
        "from mpi_queues.jobs import Job; print('starts', flush=True); "
        f"Job('sleep', args=['1000'], launcher={str(debian_mpi.mpirun)!r})"
    )
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    owner.stdout.readline()
    processes.wait_until(lambda: len(members(mark)) >= 5, "the ranks")
    owner.send_signal(signal.SIGINT)
    _, err = owner.communicate(timeout=30)
    assert "KeyboardInterrupt" in err
    assert members(mark) == []


def test_a_killed_keeper_leaves_nothing(debian_mpi: builds.MpiBuild, mark: bytes) -> None:
    job = python(debian_mpi, READY)
    os.kill(job._keeper.pid, signal.SIGKILL)
    job.end()
    assert members(mark) == []
    assert "ready" in job.output


def test_ranks_that_have_run_away_end_too(debian_mpi: builds.MpiBuild, mark: bytes) -> None:
    # Each rank leaves a process in a session of its own behind that ignores being told to end.
    code = (
        "import os, signal, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid(); signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "    if os.fork(): os._exit(0)\n"
        "    time.sleep(1000)\n"
        "time.sleep(0.2)\n"
    ) + READY
    job = python(debian_mpi, code)
    assert len(members(mark)) >= 5
    job.end()
    assert members(mark) == []
    # By the keeper, which has ended by itself: not by its owner, who would have killed it first.
    assert job._keeper.returncode == 0
