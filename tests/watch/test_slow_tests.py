"""Tests that run as ranks, ``mpiexec -n 2 pytest``: one that hangs is told once, and nothing is left behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Dict, Tuple

import pytest
from support import processes, python_jobs
from support.builds import MpiBuild
from support.paths import PROJECT
from support.starters import Place
from support.watched import GUARD

#: The last one hangs outside MPI with Python's lock held, as an extension in C may, and has a child beside it.
TESTS = """
import ctypes, os, time
from mpi4py import MPI

comm = MPI.COMM_WORLD

def test_slow():
    time.sleep(6)

def test_hangs():
    if comm.rank == 1:
        if os.fork() == 0:
            time.sleep(600)
        ctypes.PyDLL(None).pause()
    comm.recv(source=1, tag=7)
"""


def run(
    build: MpiBuild, place: Place, environment: Dict[str, str], *options: str
) -> Tuple[subprocess.Popen[bytes], Path]:
    """Starts the tests of that place; and the file of what they say."""
    command = [str(build.mpirun), "-n", "2", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    errors = place.directory / "errors"
    with errors.open("w") as file:
        tests = subprocess.Popen(
            command,
            cwd=place.directory,
            env={**environment, **python_jobs.with_mpi4py(build)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=file,
        )
    return tests, errors


@pytest.mark.usual("mpich")
def test_a_test_that_hangs_is_told_once_and_the_job_ends(
    build: MpiBuild, place: Place, environment: Dict[str, str], tmp_path: Path
) -> None:
    shutil.copy(PROJECT / "docs" / "examples" / "test_exchange.py", place.directory)
    options = ["--mpi-hang-after", "3", "--mpi-hang-end", "--mpi-report", str(tmp_path / "report")]
    tests, errors = run(build, place, environment, *options)
    assert tests.wait(GUARD) != 0
    said = errors.read_text()
    # By one of both ranks.
    assert said.count("takes more than 3 seconds on rank") == 1, said
    assert "test_exchange.py::test_exchange takes more than" in said
    assert said.count("Deadlock: rank 0 is not in MPI_Barrier on MPI_COMM_WORLD, where rank 1 waits") == 1, said
    assert "test_exchange.py:12" in said and "ending it now" in said
    files = ["diagnosis.html", "diagnosis.json", "diagnosis.txt", "job.mpirec"]
    assert sorted(os.listdir(tmp_path / "report")) == files
    place.await_end()


@pytest.mark.slow
def test_the_job_goes_on_and_what_is_beside_the_ranks_ends_with_them(
    build: MpiBuild, place: Place, environment: Dict[str, str]
) -> None:
    (place.directory / "test_it.py").write_text(TESTS)
    (place.directory / "pytest.ini").write_text("[pytest]\nmpi_hang_after = 3\n")
    tests, errors = run(build, place, environment)
    # The slow test has gone on: the next one is told, too.
    processes.wait_until(lambda: "Rank 1 is outside MPI in test_hangs" in errors.read_text(), "the second diagnosis")
    said = errors.read_text()
    assert said.count("test_slow takes more than") == said.count("test_hangs takes more than") == 1, said
    beside = [pid for pid in place.members() if b"slow_test_watch" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    # Who reads processes has a watchdog.
    ranks = {parent(pid) for pid in beside} - {1, *beside}
    assert len(ranks) == 2
    # A child of a rank has the rank's end of the pipe.
    assert [one for rank in ranks for one in processes.children(rank) if one not in beside]
    for pid in ranks:
        os.kill(pid, signal.SIGKILL)
    processes.wait_until(lambda: not set(beside) & set(place.members()), "the end of what is beside the ranks")
    place.end()
    tests.wait()


def parent(pid: int) -> int:
    (line,) = [one for one in Path(f"/proc/{pid}/status").read_text().splitlines() if one.startswith("PPid:")]
    return int(line.split()[1])


def test_a_time_that_is_none_and_tests_without_a_launcher(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_it(): pass")
    command = [sys.executable, "-m", "pytest", "-q", "--rootdir", str(tmp_path), str(tmp_path), "--mpi-hang-after"]
    wrong = subprocess.run([*command, "soon"], capture_output=True, text=True, timeout=GUARD, check=False)
    assert wrong.returncode == 4 and "--mpi-hang-after soon: not a number of seconds" in wrong.stderr
    alone = subprocess.run([*command, "60"], capture_output=True, text=True, timeout=GUARD, check=False)
    assert alone.returncode == 0 and "1 passed" in alone.stdout and alone.stderr == ""
