"""Processes and cores that name files: FIFOs, devices, what only root may read. Nobody waits for them."""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import subprocess
import time
from contextlib import contextmanager
from typing import Any, Callable, Iterator, List

import pytest
from mpi_queues.system import files
from support import cores, processes
from support.builds import C_FLAGS, MpiBuild, compile_with
from support.cli import mpi_queues
from support.jobs import Job
from support.paths import MPI_QUEUES, PROGRAMS

#: What no look at such a process takes, however busy the machine is (seconds).
SOON = 40.0


@pytest.fixture
def fifo(tmp_path: pathlib.Path) -> pathlib.Path:
    """A FIFO to which nobody writes."""
    path = tmp_path / "libmpi.so.40"
    os.mkfifo(path)
    return path


@contextmanager
def naming(path: pathlib.Path, directory: pathlib.Path, name: str = "mpirun") -> Iterator[int]:
    """A process that names a file as its library, and what seems to be a rank below it; its process id."""
    program = compile_with(["gcc"], "names_files", [PROGRAMS / "names_files.c"], ["-D_GNU_SOURCE"], language=C_FLAGS)
    shutil.copy(program, directory / name)
    below = ["env", "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=1", str(directory / name), str(path)]
    running = subprocess.Popen(
        [str(directory / name), str(path), *below],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert running.stdout is not None
        assert [running.stdout.readline() for _ in range(2)] == [b"ready\n"] * 2
        yield running.pid
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        assert running.stdout is not None
        running.stdout.close()


def test_a_launcher_that_names_a_fifo(fifo: pathlib.Path, tmp_path: pathlib.Path) -> None:
    with naming(fifo, tmp_path) as pid:
        started = time.monotonic()
        result = mpi_queues("ranks", str(pid), timeout=SOON)
        assert "Traceback" not in result.err and time.monotonic() - started < SOON
        # Without a name all jobs of the machine are looked at.
        assert "Traceback" not in mpi_queues("ranks", timeout=SOON).err
        processes.assert_running(pid)


@pytest.mark.parametrize("what", ["fifo", "device", "kernel"])
@pytest.mark.usual("*")
def test_a_process_that_names_one(fifo: pathlib.Path, tmp_path: pathlib.Path, what: str) -> None:
    named = {"fifo": fifo, "device": pathlib.Path("/dev/zero"), "kernel": pathlib.Path("/proc/kmsg")}[what]
    with naming(named, tmp_path) as pid:
        result = mpi_queues("show", "--pid", str(pid), timeout=SOON)
        assert result.status == 3 and "Traceback" not in result.err, str(result)
        processes.assert_running(pid)


def longest_stop(pids: List[int], running: subprocess.Popen[Any]) -> float:
    """For how long one of these was traced without a pause, while something runs."""
    longest, since = 0.0, dict.fromkeys(pids, 0.0)
    while running.poll() is None:
        now = time.monotonic()
        for pid in pids:
            since[pid] = (since[pid] or now) if processes.tracer(pid) else 0.0
            longest = max(longest, now - since[pid] if since[pid] else 0.0)
        time.sleep(0.02)
    return longest


def test_options_that_name_a_fifo(fifo: pathlib.Path, tmp_path: pathlib.Path) -> None:
    name = str(fifo)
    for given in (
        ["show", "--core", name],
        ["show", "--core", name, "--exe", "/bin/sleep"],
        ["show", "--recording", name],
        ["recording", "info", name],
        ["show", "--pid", str(os.getpid()), "--layouts", name],
        ["layouts", "show", name],
    ):
        result = mpi_queues(*given, timeout=SOON)
        assert result.status in (2, 3), str(result)
        assert "Traceback" not in result.err and name in result.err, str(result)


@pytest.mark.slow
def test_the_program_of_a_core_file_is_a_fifo(fifo: pathlib.Path, tmp_path: pathlib.Path) -> None:
    program = tmp_path / "plain"
    shutil.copy(compile_with(["gcc"], "plain", [PROGRAMS / "plain.c"], [], language=C_FLAGS), program)
    with subprocess.Popen([str(program)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as running:
        try:
            assert running.stdout is not None
            assert running.stdout.readline()
            core = cores.gcore(running.pid, tmp_path / "core")
        finally:
            running.kill()
    program.unlink()
    os.mkfifo(program)
    for given in ([], ["--exe", str(program)], ["--exe", str(fifo)], ["--exe", "/proc/self/mem"]):
        result = mpi_queues("show", "--core", str(core), *given, timeout=SOON)
        assert result.status == 3 and "Traceback" not in result.err, str(result)
        assert "FIFO" in result.err or "the kernel makes up" in result.err, str(result)
    # A program of any size costs what its headers cost.
    program.unlink()
    with open(program, "wb") as sparse:
        sparse.truncate(1 << 42)
    assert "was not dumped by" in mpi_queues("show", "--core", str(core), timeout=SOON).err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root reads for others")
def test_files_are_read_for_the_user_of_a_process() -> None:
    with processes.asleep(user=65534, group=65534, extra_groups=[]) as running:
        assert files.reader_of(running.pid) == files.Reader(65534, 65534, ())


def test_a_disk_that_is_full_is_told_before_anything_is_stopped(
    tmp_path: pathlib.Path, debian_mpi: MpiBuild, start_job: Callable[..., Job]
) -> None:
    job = start_job(debian_mpi, "truth_comms", ranks=2)
    # The recording's first bytes go through, what is kept of the ranks does not.
    for blocks in (0, 1, 8):
        typed = f"ulimit -f {blocks}; exec {MPI_QUEUES} record --job {job.launcher_pid} -o {tmp_path}/x.mpirec"
        with subprocess.Popen(["bash", "-c", typed], stderr=subprocess.PIPE, text=True) as running:
            stood = longest_stop(job.pids, running)
            assert running.stderr is not None
            said = running.stderr.read()
        assert running.returncode == 3 and "Traceback" not in said, said
        assert "File too large" in said
        assert stood < (8.0 if blocks else 0.1), f"the ranks stood {stood:.1f} s at {blocks} blocks"
        assert list(tmp_path.iterdir()) == []
        job.assert_running()
