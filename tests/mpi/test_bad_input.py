"""Wrong targets: each message names the thing and the next command, and the target goes on as before."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Callable, Iterator

import pytest
from support import processes
from support.builds import MpiBuild, compile_plain
from support.cli import Result, mpi_queues, pid_options, show
from support.compare import assert_equal
from support.jobs import Job
from support.paths import MPI_QUEUES, PROJECT
from support.unheard import NAME, give_unheard_pml

StartJob = Callable[..., Job]


@pytest.fixture
def plain_process(preflight: None) -> Iterator[int]:
    """A process that has nothing to do with MPI."""
    with subprocess.Popen([str(compile_plain("plain"))], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield process.pid
        finally:
            process.kill()


def _refused(result: Result, *words: str) -> None:
    """Nothing could be read, nothing is on standard output, and the message holds the words; never a traceback."""
    assert result.status == 3, str(result)
    assert result.out == "", str(result)
    assert "Traceback" not in result.err, str(result)
    for word in words:
        assert word in result.err, f"{word!r} is not in the message\n{result}"


def test_no_such_process() -> None:
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    _refused(mpi_queues("show", "--pid", str(ended.pid)), str(ended.pid), "no such process", "type: ")


@pytest.mark.parametrize("text", ["0", "-1", "12x", "", "4294967297"])
def test_what_is_not_a_process_id_is_bad_usage(text: str) -> None:
    result = mpi_queues("show", f"--pid={text}")
    assert result.status == 2, str(result)
    assert "not a process id" in result.err and "--help" in result.err


def test_without_a_target_the_job_is_named_or_the_next_step(mpi_build: MpiBuild, start_job: StartJob) -> None:
    """Others may run jobs here, too."""
    job = start_job(mpi_build, "truth_probe", ranks=2)
    result = mpi_queues("show", "--format", "json")
    first = result.err.splitlines()[0]
    if result.status == 0:
        assert f"(pid {job.launcher_pid})" in first and "2 ranks" in first, str(result)
        assert [process["pid"] for process in json.loads(result.out)["processes"]] == job.pids
    else:
        _refused(result, f"pid {job.launcher_pid}: ", "launchers are running", "mpi-queues show --format json ")
    job.assert_running()


def test_not_an_mpi_process(plain_process: int) -> None:
    result = mpi_queues("show", "--pid", str(plain_process))
    _refused(result, str(plain_process), "not an MPI process", "mpirun")
    processes.assert_running(plain_process)


def test_before_mpi_init(mpi_build: MpiBuild, start_job: StartJob) -> None:
    job = start_job(mpi_build, "states", "before", ranks=1)
    _refused(mpi_queues("show", *pid_options(job.pids)), str(job.pids[0]), "MPI_Init", "ask again")
    job.assert_running()


def test_after_mpi_finalize(mpi_build: MpiBuild, start_job: StartJob) -> None:
    job = start_job(mpi_build, "states", "after", ranks=1)
    _refused(mpi_queues("show", *pid_options(job.pids)), str(job.pids[0]), "MPI_Finalize")
    job.assert_running()


def test_the_launcher_is_not_a_rank(mpi_build: MpiBuild, start_job: StartJob) -> None:
    job = start_job(mpi_build, "truth_probe", ranks=2)
    result = mpi_queues("show", "--pid", str(job.launcher_pid))
    _refused(result, str(job.launcher_pid))
    processes.assert_running(job.launcher_pid)
    job.assert_running()


def test_what_can_be_read_is_shown_beside_what_cannot(
    debian_mpi: MpiBuild, start_job: StartJob, plain_process: int
) -> None:
    job = start_job(debian_mpi, "truth_probe", ranks=2)
    shown = show([job.pids[0], plain_process, job.pids[1]], status=1)
    assert sorted(shown) == sorted(job.pids)
    for rank, truth in job.truth.items():
        assert_equal(truth, shown[job.pids[rank]])
    job.assert_running()
    processes.assert_running(plain_process)


def test_a_zombie(plain_process: int) -> None:
    process = subprocess.Popen(["true"])
    try:
        processes.wait_until(lambda: processes.state(process.pid) == "Z", "a zombie")
        _refused(mpi_queues("show", "--pid", str(process.pid)), str(process.pid), "zombie")
    finally:
        process.wait()


def test_a_process_that_a_debugger_holds(plain_process: int) -> None:
    with subprocess.Popen(
        ["gdb", "-nx", "-q", "-p", str(plain_process)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as gdb:
        try:
            processes.wait_until(lambda: processes.tracer(plain_process) == gdb.pid, "gdb to attach")
            result = mpi_queues("show", "--pid", str(plain_process))
            _refused(result, str(plain_process), f"traced by pid {gdb.pid}", "type")
            assert processes.tracer(plain_process) == gdb.pid
        finally:
            gdb.communicate(b"detach\nquit\n", timeout=60)
    processes.assert_running(plain_process)


@pytest.mark.parametrize("stopped", [True, False], ids=["stopped", "running"])
def test_a_rank_is_left_in_the_state_it_was_in(debian_mpi: MpiBuild, start_job: StartJob, stopped: bool) -> None:
    job = start_job(debian_mpi, "truth_persistent", ranks=2)
    pid = job.pids[0]
    if stopped:
        os.kill(pid, signal.SIGSTOP)
        processes.wait_until(lambda: processes.state(pid) == "T", "the stop")
    assert_equal(job.truth[0], show([pid])[pid])
    assert processes.tracer(pid) == 0
    if stopped:
        assert processes.state(pid) == "T"
        os.kill(pid, signal.SIGCONT)
        processes.wait_until(lambda: processes.state(pid) in ("R", "S"), "the rank to run again")
    job.assert_running()


def test_a_rank_that_ends_while_it_is_read(debian_mpi: MpiBuild, start_job: StartJob) -> None:
    job = start_job(debian_mpi, "many", "100000", "0", "0", ranks=2)
    pid = job.pids[0]
    command = [str(MPI_QUEUES), "show", "--pid", str(pid)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as reader:
        processes.wait_until(lambda: processes.tracer(pid) != 0 or reader.poll() is not None, "the debugger to attach")
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        out, err = reader.communicate(timeout=120)
    result = Result(command, reader.returncode, out, err)
    _refused(result, str(pid))
    assert "ended" in err or "gone" in err or "no such process" in err, str(result)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda s: s.name)
def test_an_interrupted_reader_leaves_the_ranks_running(
    debian_mpi: MpiBuild, start_job: StartJob, ending: signal.Signals
) -> None:
    job = start_job(debian_mpi, "many", "100000", "0", "0", ranks=2)
    command = [str(MPI_QUEUES), "show", *pid_options(job.pids)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True) as reader:
        processes.wait_until(
            lambda: any(processes.tracer(pid) for pid in job.pids) or reader.poll() is not None, "a debugger to attach"
        )
        reader.send_signal(ending)
        _, err = reader.communicate(timeout=120)
    if ending != signal.SIGKILL:
        assert b"interrupted" in err and b"Traceback" not in err, err
    processes.wait_until(lambda: not any(processes.tracer(pid) for pid in job.pids), "the debuggers to let go")
    job.assert_running()


def test_a_time_limit_leaves_the_rank_running(debian_mpi: MpiBuild, start_job: StartJob) -> None:
    job = start_job(debian_mpi, "many", "1000", "0", "0", ranks=2)
    started = time.monotonic()
    result = mpi_queues("show", "--pid", str(job.pids[0]), "--timeout", "0.001")
    assert time.monotonic() - started < 30
    _refused(result, str(job.pids[0]), "--timeout")
    processes.wait_until(lambda: processes.tracer(job.pids[0]) == 0, "the debugger to let go")
    job.assert_running()


def test_a_process_of_another_user(plain_process: int) -> None:
    """The message names the owner and how to ask as the owner. Root asks as nobody, anybody else asks for process 1."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from mpi_queues.system.attaching import check_readable\n"
        "from mpi_queues.errors import UserError\n"
        "try: check_readable(int(sys.argv[2]))\n"
        "except UserError as error: print(error)"
    )
    as_root = os.geteuid() == 0
    pid = plain_process if as_root else 1
    nobody = {"user": 65534, "group": 65534, "extra_groups": []} if as_root else {}
    with tempfile.TemporaryDirectory(prefix="mq-", dir="/tmp") as name:
        package = Path(name) / "mpi_queues"
        shutil.copytree(PROJECT / "python" / "mpi_queues", package)
        for path in [Path(name), package, *package.rglob("*")]:
            path.chmod(0o755)
        run = subprocess.run(
            ["/usr/bin/python3", "-B", "-c", code, name, str(pid)],
            capture_output=True,
            text=True,
            check=False,
            **nobody,  # type: ignore[call-overload]
        )
    assert f"pid {pid}" in run.stdout, run
    assert "root" in run.stdout and "sudo" in run.stdout, run
    processes.assert_running(plain_process)


@pytest.mark.slow
def test_another_transport_is_no_information_and_not_an_empty_queue(debian_mpi: MpiBuild, start_job: StartJob) -> None:
    job = start_job(debian_mpi, "truth_collective", "barrier", ranks=2)
    give_unheard_pml(job.pids)
    result = mpi_queues("show", *pid_options(job.pids))
    assert "pml ob1" in result.out and NAME in result.out, str(result)
    shown = show(job.pids)
    for rank, truth in job.truth.items():
        process = shown[job.pids[rank]]
        assert process["mpi"]["transport"] == NAME
        assert process["problems"] == []
        handles = {comm["handle"]: comm for comm in process["communicators"]}
        assert sorted(handles) == sorted(comm["handle"] for comm in truth["communicators"])
        for comm in truth["communicators"]:
            found = handles[comm["handle"]]
            assert found["name"] == comm["name"]
            assert (found["group"], found["local_rank"]) == (comm["group"], comm["local_rank"])
            for queue in ("pending_sends", "pending_receives", "unexpected_messages"):
                assert found[queue]["state"] == "no_information"
                assert NAME in found[queue]["detail"] and "--mca pml ob1" in found[queue]["detail"]
                assert found[queue]["operations"] == []
    job.assert_running()


@pytest.mark.slow
def test_many_operations_are_read_whole(mpi_build: MpiBuild, start_job: StartJob) -> None:
    receives, messages = 20000, 10000
    job = start_job(mpi_build, "many", str(receives), "40", str(messages), ranks=2)
    process = show([job.pids[0]])[job.pids[0]]
    assert process["problems"] == []
    comms = {comm["handle"]: comm for comm in process["communicators"]}
    names = {comm["name"]: comm["handle"] for comm in job.truth[0]["communicators"] if comm["name"]}
    assert sorted(comms) == sorted(comm["handle"] for comm in job.truth[0]["communicators"])
    posted = comms[names["MPI_COMM_WORLD"]]["pending_receives"]["operations"]
    assert [op["desired_tag"] for op in posted] == list(range(receives))
    arrived = comms[names["control"]]["unexpected_messages"]["operations"]
    assert [(op["actual_tag"], op["actual_length"]) for op in arrived] == [(tag, 8) for tag in range(messages)]
    text = mpi_queues("show", "--pid", str(job.pids[0]))
    assert text.status == 0
    assert f"{receives:,} pending receives, {messages:,} unexpected messages" in text.out.splitlines()[-1]
    job.assert_running()
