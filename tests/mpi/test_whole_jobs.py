"""Jobs of real launchers from the launcher's process id: their ranks, and all of them read at once. Truth is which
process said of itself that it is which rank."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
from typing import Any, Callable, Iterator, List

import mpi_queues
import pytest
from mpi_queues import jobs
from mpi_queues.errors import UserError
from mpi_queues.launchers import job as acquisition
from support import cli, processes
from support.builds import C_FLAGS, MpiBuild, compile_program, compile_with
from support.compare import lasting
from support.jobs import Job
from support.paths import PROGRAMS


def show(job: int, status: int = 0) -> Any:
    """``mpi-queues show --job``, as JSON."""
    result = cli.mpi_queues("show", "--job", str(job), "--format", "json")
    assert result.status == status, str(result)
    return json.loads(result.out)


def assert_read_as_a_job(job: Job) -> None:
    single = cli.show(job.pids)
    together = show(job.launcher_pid)
    assert [process["pid"] for process in together["processes"]] == job.pids
    assert [process["rank"] for process in together["processes"]] == list(range(job.ranks))
    for process in together["processes"]:
        assert lasting(process) == lasting(single[process["pid"]])
        assert process["captured_at"].endswith("Z")
    assert f"{job.ranks} ranks were stopped within" in together["notes"][0]
    assert together["problems"] == []
    job.assert_running()


def assert_found(job: Job) -> None:
    for pid in (job.launcher_pid, job.pids[-1]):
        found = acquisition.of(pid)
        assert found.pid == job.launcher_pid
        assert [(entry.rank, entry.pid, entry.problem) for entry in found.ranks] == [
            (rank, pid, None) for rank, pid in enumerate(job.pids)
        ]
        (world,) = found.worlds
        assert (world.number, world.size, world.first) == (0, job.ranks, 0)
    result = cli.mpi_queues("ranks", str(job.launcher_pid), "--format", "json")
    assert result.status == 0, str(result)
    told = json.loads(result.out)
    assert [process["pid"] for process in told["processes"]] == job.pids
    assert told["job"]["pid"] == job.launcher_pid
    text = cli.mpi_queues("ranks", str(job.pids[0]))
    assert text.status == 0 and all(f"  {pid}  " in text.out for pid in job.pids), str(text)
    job.assert_running()


def test_open_mpi(mpi_build: MpiBuild, start_job: Callable[..., Job]) -> None:
    job = start_job(mpi_build, "truth_comms", ranks=3)
    assert_found(job)
    assert_read_as_a_job(job)


@pytest.mark.slow
def test_mpich(mpich_build: MpiBuild, start_job: Callable[..., Job]) -> None:
    job = start_job(mpich_build, "truth_comms", ranks=3)
    assert_found(job)
    assert_read_as_a_job(job)


def test_from_python(debian_mpi: MpiBuild, start_job: Callable[..., Job]) -> None:
    job = start_job(debian_mpi, "truth_comms", ranks=2)
    snapshot = mpi_queues.attach(job=job.launcher_pid)
    assert [process.pid for process in snapshot.processes] == job.pids
    assert all(process.captured_at for process in snapshot.processes)
    assert "ms a rank" in snapshot.notes[0]


def test_a_job_is_recorded(debian_mpi: MpiBuild, start_job: Callable[..., Job], tmp_path: pathlib.Path) -> None:
    job = start_job(debian_mpi, "truth_comms", ranks=2)
    result = cli.mpi_queues("record", "--job", str(job.pids[1]), "-o", str(tmp_path / "x.mpirec"))
    assert result.status == 0, str(result)
    replayed = mpi_queues.load(tmp_path / "x.mpirec")
    assert [(process.rank, process.pid) for process in replayed.processes] == list(enumerate(job.pids))


@contextlib.contextmanager
def wrapped(build: MpiBuild, place: pathlib.Path, mode: str) -> Iterator[jobs.Job]:
    """Ranks that are started by a shell script."""
    script = place / "around.sh"
    noted = 'echo $$ >"$1/script.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"'
    script.write_text(f'#!/bin/sh\n{noted}\n"{compile_program(build, "rank_of_job")}" "$@"\nexit $?\n')
    script.chmod(0o755)
    options = ["-disable-auto-cleanup"] if build.is_mpich else []
    with jobs.Job(script, ranks=2, args=[str(place), mode], launcher=build.mpirun, options=options) as job:
        yield job


def said(place: pathlib.Path, rank: int, who: str = "pid") -> int:
    return int((place / f"{who}.{rank}").read_text())


@pytest.fixture(params=["debian_mpi", "debian_mpich", "wheel_mpi"])
def any_mpi(request: pytest.FixtureRequest) -> MpiBuild:
    build: MpiBuild = request.getfixturevalue(request.param)
    return build


@pytest.mark.parametrize("mode", ["plain", "forks"])
@pytest.mark.usual("debian_mpi-forks", "debian_mpich-forks", "wheel_mpi-forks")
def test_scripts_around_ranks_and_children_of_ranks(any_mpi: MpiBuild, tmp_path: pathlib.Path, mode: str) -> None:
    with wrapped(any_mpi, tmp_path, mode) as job:
        expected = [said(tmp_path, 0), said(tmp_path, 1)]
        processes.wait_until(
            lambda: all(len(processes.descendants(pid)) == (2 if mode == "forks" else 0) for pid in expected),
            "the forks",
        )
        found = acquisition.of(job.launcher_pid)
        assert [entry.pid for entry in found.ranks] == expected
        # Open MPI 5's launcher has no table, and why is told; the others have one that agrees.
        without = not any_mpi.launcher_has_table
        assert ("points to a table" in " ".join(found.notes)) == without and found.problems == []
        for entry in found.ranks:
            assert ("MPIR_proctable" in entry.origin) != without
            assert entry.problem is None and "started through pid" in entry.origin
            assert ("it has forked" in entry.origin) == (mode == "forks")
        shown = show(job.launcher_pid)
        assert [(process["rank"], process["pid"]) for process in shown["processes"]] == list(enumerate(expected))
        for pid in expected:
            processes.assert_running(pid)


def test_a_rank_that_has_ended_is_a_row_with_its_reason(debian_mpi: MpiBuild, tmp_path: pathlib.Path) -> None:
    with wrapped(debian_mpi, tmp_path, "leaves") as job:
        # The launcher's table has the script, which ends after its rank.
        for who in ("pid", "script"):
            gone = said(tmp_path, 1, who)
            processes.wait_until(lambda gone=gone: processes.state(gone) is None, f"the end of rank 1 ({who})")
        first, second = acquisition.of(job.launcher_pid).ranks
        assert (first.pid, first.state) == (said(tmp_path, 0), "sleeping")
        assert (second.rank, second.state) == (1, "ended")
        assert "it has ended" in (second.problem or "")
        # Nobody has called MPI_Init, so of rank 0 no queue is known either; it is not left out.
        with pytest.raises(UserError) as caught:
            mpi_queues.attach(job=job.launcher_pid)
        assert "rank 0" in str(caught.value) and "rank 1" in str(caught.value)


def test_a_rank_in_another_debugger_is_a_row_with_its_reason(
    debian_mpi: MpiBuild, start_job: Callable[..., Job]
) -> None:
    job = start_job(debian_mpi, "truth_comms", ranks=3)
    command = ["gdb", "-nx", "-batch", "-ex", f"attach {job.pids[1]}", "-ex", "shell sleep 600"]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as other:
        try:
            processes.wait_until(lambda: processes.tracer(job.pids[1]) == other.pid, "the other debugger")
            entry = acquisition.of(job.launcher_pid).ranks[1]
            assert entry.state == "traced" and f"traced by pid {other.pid} (gdb)" in (entry.problem or "")
            shown = show(job.launcher_pid, status=1)
        finally:
            os.killpg(other.pid, signal.SIGKILL)
    assert [process["rank"] for process in shown["processes"]] == [0, 1, 2]
    assert f"already traced by pid {other.pid} (gdb)" in shown["processes"][1]["problems"][0]
    assert [bool(process["mpi"]) for process in shown["processes"]] == [True, False, True]
    processes.wait_until(lambda: processes.tracer(job.pids[1]) == 0, "the end of the other debugger")


def test_a_launcher_whose_ranks_are_not_below_it(tmp_path: pathlib.Path) -> None:
    launcher = compile_with(["gcc"], "srun", [PROGRAMS / "made_up_srun.c"], [], language=C_FLAGS)
    shutil.copy(launcher, tmp_path / "srun")
    program = compile_with(["gcc"], "plain", [PROGRAMS / "plain.c"], [], language=C_FLAGS)
    command = [str(tmp_path / "srun"), "3", str(program)]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as running:
        try:
            assert running.stdout is not None
            lines: List[bytes] = [running.stdout.readline() for _ in range(4)]
            assert lines == [b"ready\n"] * 4
            found = acquisition.of(running.pid)
            assert (found.launcher, [entry.rank for entry in found.ranks]) == ("srun", [0, 1, 2])
            # A rank that has written its line may not have gone to sleep yet.
            processes.wait_until(
                lambda: {entry.state for entry in acquisition.of(running.pid).ranks} == {"sleeping"},
                "all ranks asleep",
            )
            for entry in found.ranks:
                assert entry.pid is not None and entry.executable == os.path.realpath(program)
                assert entry.pid not in {below.pid for below in processes.descendants(running.pid)}
                assert entry.origin.startswith(f"MPIR_proctable of srun (pid {running.pid})")
                assert "no MPI library is loaded in it" in (entry.problem or "")
        finally:
            running.kill()
    processes.wait_until(
        lambda: all(processes.state(entry.pid or 0) is None for entry in found.ranks), "the end of the ranks"
    )
