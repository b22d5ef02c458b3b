"""Live processes that are read without a debugger: they are left as they were found, what cannot be read is told."""

from __future__ import annotations

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time
from functools import partial
from typing import Any, Dict, Iterator, List

import pytest
from support import processes
from support.builds import MpiBuild
from support.cli import mpi_queues, pid_options, show
from support.jobs import Job
from test_cores import attached, in_debugger

#: Reads the processes again and again, and says when it has begun.
_READER = """
import sys
from mpi_queues import _native
pids = [int(word) for word in sys.argv[1:]]
live = _native.LiveProcesses()
while True:
    live.stop(pids, 10.0, None)
    for pid in pids:
        live.session(pid).read()
    live.release_all()
    print("read", flush=True)
"""

#: Seconds within which something ends or is begun.
_LIMIT = 60.0


@pytest.fixture(scope="module")
def job(debian_mpi: MpiBuild) -> Iterator[Job]:
    with Job(debian_mpi, "truth_threads", ranks=2) as started:
        yield started


def _runs(pid: int) -> bool:
    return not set("tT") & set(processes.thread_states(pid))


def assert_as_found(pids: List[int]) -> None:
    """All threads run, nobody traces them, and no stop is pending."""
    stop = 1 << (signal.SIGSTOP - 1)
    for pid in pids:
        processes.wait_until(partial(_runs, pid), "the threads to go on")
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            fields = dict(line.split(":", 1) for line in (task / "status").read_text().splitlines())
            assert fields["TracerPid"].strip() == "0"
            assert not int(fields["SigPnd"], 16) & stop and not int(fields["ShdPnd"], 16) & stop


@pytest.mark.parametrize("rounds", [20, 200])
@pytest.mark.usual("20")
def test_a_reader_that_is_killed_leaves_the_ranks_as_they_were(job: Job, rounds: int) -> None:
    chance = random.Random(rounds)
    standing = 0
    for _ in range(rounds):
        reader = subprocess.Popen(
            [sys.executable, "-c", _READER, *map(str, job.pids)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        )
        assert reader.stdout is not None
        reader.stdout.readline()
        time.sleep(chance.random() * 0.02)
        reader.send_signal(signal.SIGSTOP)
        standing += any(processes.tracer(pid) for pid in job.pids)
        reader.kill()
        reader.wait(_LIMIT)
        reader.stdout.close()
        assert_as_found(job.pids)
    assert standing > rounds / 10, "the reader was killed while it held the ranks"
    job.assert_running()


def test_no_debugger_is_needed(job: Job, tmp_path: pathlib.Path) -> None:
    # Neither is on the path.
    alone = {**os.environ, "PATH": str(tmp_path)}
    for command in ("show", "diagnose", "stacks", "handles"):
        kind = ["comm"] if command == "handles" else []
        result = mpi_queues(command, *pid_options(job.pids), *kind, environment=alone)
        assert result.status == 0, str(result)


#: gdb looks between its commands whether it is to end.
_WAITS = (
    """python exec('import time\\nprint("attached", flush=True)\\nwhile True: time.sleep(0.1); gdb.execute("echo")')"""
)


def test_a_process_that_is_traced_names_the_tracer(job: Job) -> None:
    command = ["gdb", "-nx", "-q", "-batch", "-p", str(job.pids[0]), "-ex", _WAITS]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as gdb:
        try:
            # One that is ended while it attaches leaves the process stopped.
            assert gdb.stdout is not None and any("attached" in line for line in gdb.stdout)
            assert processes.tracer(job.pids[0]) == gdb.pid
            result = mpi_queues("show", "--pid", str(job.pids[0]))
            assert result.status == 3
            assert f"already traced by pid {gdb.pid} (gdb)" in result.err, str(result)
            # The other rank is read all the same.
            both = mpi_queues("show", *pid_options(job.pids))
            assert both.status == 1 and "Rank 1 of 2" in both.out, str(both)
        finally:
            gdb.terminate()
            gdb.wait(_LIMIT)
    assert_as_found(job.pids)


def test_a_program_of_32_bits_is_left_to_a_debugger(tmp_path: pathlib.Path) -> None:
    source = tmp_path / "sleeps.c"
    source.write_text("#include <unistd.h>\nint main(void) { for (;;) pause(); }\n")
    program = tmp_path / "sleeps"
    subprocess.run(["gcc", "-m32", "-g", "-o", str(program), str(source)], check=True)
    with subprocess.Popen([str(program)]) as child:
        try:
            refused = mpi_queues("stacks", "--pid", str(child.pid))
            assert refused.status == 3 and "another kind of machine" in refused.err, str(refused)
            assert f"type: gdb -p {child.pid}, and there: mpi diagnose" in " ".join(refused.err.split()), str(refused)
            said = in_debugger("gdb", [attached("gdb", child.pid)], "mpi stacks")
            assert "main at sleeps.c:2" in said, said
        finally:
            child.kill()


def test_a_process_that_ends_meanwhile_is_gone(debian_mpi: MpiBuild) -> None:
    with Job(debian_mpi, "truth_modes", ranks=3) as ended:
        os.kill(ended.pids[1], signal.SIGKILL)
        processes.wait_until(lambda: processes.state(ended.pids[1]) in (None, "Z"), "the rank to end")
        result = mpi_queues("show", "--pid", str(ended.pids[1]))
        assert result.status == 3, str(result)


def test_whoever_is_named_it_is_read_natively(job: Job) -> None:
    for via in ("native", "auto"):
        assert {one["source"]["via"] for one in show(job.pids, "--via", via).values()} == {"native"}


def _interrupted(job: Job) -> List[List[int]]:
    """How often calls of each rank have failed with EINTR. Nothing of them runs but to tell that."""

    def told(rank: int) -> Dict[str, Any]:
        found: Dict[str, Any] = json.loads(pathlib.Path(job.directory, f"truth.{rank}.json").read_text())
        return found

    # A thread whose call was interrupted has begun it anew.
    time.sleep(0.5)
    before = [told(rank)["asked"] for rank in range(2)]
    for pid in job.pids:
        os.kill(pid, signal.SIGUSR1)
    processes.wait_until(lambda: all(told(rank)["asked"] > before[rank] for rank in range(2)), "the ranks to tell")
    return [told(rank)["interrupted"] for rank in range(2)]


def test_a_look_interrupts_a_call_that_waits_once(debian_mpi: MpiBuild) -> None:
    with Job(debian_mpi, "kernel_waits", "calls", ranks=2) as job:
        for command in (["stacks"], ["show"], ["diagnose", "--once"], ["comms"]):
            before = _interrupted(job)
            result = mpi_queues(*command, "--job", str(job.launcher_pid))
            assert result.status == 0, str(result)
            assert _interrupted(job) == [[count + 1 for count in counts] for counts in before], command


@pytest.mark.slow
def test_nothing_stands_for_a_thread_that_cannot_be_stopped(debian_mpi: MpiBuild, tmp_path: pathlib.Path) -> None:
    with Job(debian_mpi, "kernel_waits", "child", ranks=2) as job:
        processes.wait_until(lambda: "D" in processes.thread_states(job.pids[1]), "the thread to wait for its child")
        watch = subprocess.Popen(
            [sys.executable, "-m", "mpi_queues", "watch", str(job.launcher_pid), "--after", "2", "-o", str(tmp_path)],
            stderr=subprocess.PIPE,
            text=True,
        )
        traced = [0, 0]
        end = time.monotonic() + 8.0
        while time.monotonic() < end:
            for rank, pid in enumerate(job.pids):
                traced[rank] += processes.tracer(pid) != 0
            time.sleep(0.002)
        watch.terminate()
        _, error = watch.communicate(timeout=_LIMIT)
        # The other one is looked at, for milliseconds.
        assert traced[1] == 0 and traced[0] < 500, (traced, error)
        told = mpi_queues("diagnose", "--job", str(job.launcher_pid), "--once")
        assert "cannot be stopped: it has waited in the kernel for 2 s and more" in str(told)
        assert "rank 0" in told.out
        assert_as_found(job.pids[:1])


def test_a_file_that_is_waited_for_is_named(debian_mpi: MpiBuild, tmp_path: pathlib.Path) -> None:
    with Job(debian_mpi, "silent_server", str(tmp_path), ranks=2) as job:
        processes.wait_until(lambda: "D" in processes.thread_states(job.pids[1]), "rank 1 to wait for its file")
        told = mpi_queues("diagnose", "--job", str(job.launcher_pid), "--once")
        file = f"in read of {tmp_path}/results.dat, for the file system at {tmp_path} (fuse)"
        assert "cannot be stopped: it has waited in the kernel for 2 s and more, " + file in str(told), str(told)
        assert "rank 0" in told.out
