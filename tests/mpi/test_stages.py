"""How far each rank is with MPI, where one of a job has come to an end while another waits for it. Truth is what it
wrote down when MPI_Finalize returned, if that did."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any, Callable, Dict, Optional

import pytest
from support import cli, processes
from support.builds import MpiBuild
from support.jobs import Job

StartJob = Callable[..., Job]
Json = Dict[str, Any]


def _told(job: Job) -> str:
    """The stage that rank 1 has told last."""
    return str(json.loads(Path(job.directory, "truth.1.json").read_bytes())["stage"])


def _shown(job: Job, *options: str) -> Dict[int, Json]:
    result = cli.mpi_queues("show", "--job", str(job.launcher_pid), "--format", "json", *options)
    snapshot = json.loads(result.out)
    assert [process["rank"] for process in snapshot["processes"]] == [0, 1], str(result)
    return {process["rank"]: process for process in snapshot["processes"]}


def _assert_waiting(process: Json) -> None:
    assert process["stage"] == "initialized"
    assert process["problems"] == []
    assert process["state"] in ("running", "sleeping")
    assert [call["function"].removeprefix("P") for call in process["calls"]] == ["MPI_Recv"]


def _assert_finalized(job: Job, process: Json) -> None:
    assert (process["stage"], process["pid"], process["state"]) == ("finalized", job.pids[1], "sleeping")
    (problem,) = process["problems"]
    assert problem.startswith(f"rank 1 (pid {job.pids[1]}): MPI is finalised in this process")
    assert process["calls"] == [] and process["communicators"] == []
    assert "main" in [thread["caller"] for thread in process["outside"]]


def _assert_ended(process: Json, pid: Optional[int]) -> None:
    assert (process["stage"], process["pid"]) == ("ended", pid)
    assert process["state"] in ("ended", "zombie") and len(process["problems"]) == 1
    assert process["calls"] == [] and process["communicators"] == []


@pytest.mark.slow
def test_a_rank_in_mpi_finalize(mpi_build: MpiBuild, start_job: StartJob) -> None:
    """Open MPI's MPI_Finalize waits for all ranks."""
    job = start_job(mpi_build, "finished", "sleep", ranks=2)
    found: Dict[int, Json] = {}

    def finalizing() -> bool:
        found.update(_shown(job))
        return bool(found[1]["stage"] == "finalizing")

    processes.wait_until(finalizing, "rank 1 to be seen in MPI_Finalize")
    _assert_waiting(found[0])
    # Open MPI's MPI_Finalize jumps to a function of the library's own, so that it need not be on the stack itself.
    assert "main" in [thread["caller"] for thread in (*found[1]["calls"], *found[1].get("outside", []))]
    assert (found[1]["rank"], found[1]["pid"]) == (1, job.pids[1])
    assert _told(job) == "finalizing"


#: Lets Open MPI's MPI_Finalize return at once.
ALONE = {"async_mpi_finalize": "1"}


def test_a_rank_after_mpi_finalize(debian_mpi: MpiBuild, start_job: StartJob) -> None:
    job = start_job(debian_mpi, "finished", "sleep", ranks=2, mca=ALONE)
    processes.wait_until(lambda: _told(job) == "finalized", "rank 1 to come out of MPI_Finalize")
    processes.wait_until(lambda: processes.state(job.pids[1]) == "S", "rank 1 to sleep")
    found = _shown(job)
    _assert_waiting(found[0])
    _assert_finalized(job, found[1])


def test_a_rank_that_has_ended(mpi_build: MpiBuild, start_job: StartJob) -> None:
    job = start_job(mpi_build, "finished", "exit", ranks=2, mca=ALONE)
    processes.wait_until(lambda: processes.state(job.pids[1]) in (None, "Z"), "rank 1 to end")
    found = _shown(job)
    _assert_waiting(found[0])
    # prterun, the launcher of Open MPI 5, has no table of processes that would tell whom the rank was.
    _assert_ended(found[1], None if mpi_build.version.startswith("5.") else job.pids[1])


@pytest.mark.usual("mpich-debian", "mpich-wheel-*")
def test_a_rank_of_mpich_after_mpi_finalize(mpich_build: MpiBuild, start_job: StartJob) -> None:
    job = start_job(mpich_build, "finished", "sleep", ranks=2)
    found: Dict[int, Json] = {}

    def seen() -> bool:
        found.update(_shown(job))
        return bool(found[1]["stage"] in ("finalizing", "finalized"))

    processes.wait_until(seen, "rank 1 to be seen in MPI_Finalize or behind it")
    _assert_waiting(found[0])
    if found[1]["stage"] == "finalizing":
        assert [call["function"].removeprefix("P") for call in found[1]["calls"]] == ["MPI_Finalize"]
    else:
        assert _told(job) == "finalized"
        _assert_finalized(job, found[1])


def test_ranks_that_a_signal_has_stopped_are_told_with_what_to_type(debian_mpi: MpiBuild, start_job: StartJob) -> None:
    job = start_job(debian_mpi, "truth_modes", ranks=3)
    for pid in job.pids:
        os.kill(pid, signal.SIGSTOP)
        processes.wait_until(lambda pid=pid: processes.state(pid) == "T", "the rank to stop")
    for options in (["--once"], []):
        result = cli.mpi_queues("diagnose", "--job", str(job.launcher_pid), "--format", "json", *options)
        verdict = json.loads(result.out)["verdict"]
        pids = " ".join(str(pid) for pid in job.pids)
        assert verdict["state"] == "unknown", str(result)
        assert verdict["headline"].endswith(f"ranks 0-2 are stopped by a signal and go on after: kill -CONT {pids}.")
    for pid in job.pids:
        os.kill(pid, signal.SIGCONT)
    job.assert_running()
    again = cli.mpi_queues("diagnose", "--job", str(job.launcher_pid))
    assert "stopped by a signal" not in again.out
