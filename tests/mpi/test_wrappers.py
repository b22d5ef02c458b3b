"""What wraps MPI is looked through: a call is shown where the application made it."""

from __future__ import annotations

import json
import pathlib
from typing import Any, Dict, Optional, Tuple

import pytest
from mpi_queues import jobs
from mpi_queues.request import WRAPPERS
from support import cli, processes
from support.builds import MpiBuild
from test_arguments import StartCalls, rank_output, start_calls

__all__ = ["start_calls"]

SOURCE = "calls_wrapped.cc"
REQUESTS = "calls_boost.cc"
RANKS = 4

#: Before the source, whose needs the linker does not know yet.
BOOST = ("-Wl,--no-as-needed", "-lboost_mpi", "-lboost_serialization")
Place = Tuple[Optional[str], Optional[int]]


def truth(job: jobs.Job) -> Dict[int, Tuple[str, int, int]]:
    """By rank: the application's function, its line, and the line of the call of MPI; of Boost that is not known."""
    found: Dict[int, Tuple[str, int, int]] = {}

    def all_there() -> bool:
        for rank in range(RANKS):
            words = [line.split() for line in rank_output(job, rank).splitlines()]
            called = [(word[1], int(word[2])) for word in words if word[0] == "called"]
            inner = [int(word[1]) for word in words if word[0] == "inner"]
            if called and (inner or rank == 0):
                found[rank] = (*called[0], inner[0] if inner else 0)
        return len(found) == RANKS

    processes.wait_until(all_there, "every rank at its call")
    return found


def told(process: Dict[str, Any]) -> Place:
    (call,) = process["calls"]
    assert call["function"] == "MPI_Recv"
    return None if call["file"] is None else pathlib.Path(call["file"]).name, call["line"]


def waiting(job: jobs.Job, *options: str, **environment: str) -> Dict[int, Dict[str, Any]]:
    found: Dict[int, Dict[str, Any]] = {}

    def all_there() -> bool:
        pids = cli.pid_options(job.pids)
        result = cli.mpi_queues("show", *pids, "--format", "json", *options, environment=environment)
        assert result.status == 0, str(result)
        found.update({one["rank"]: one for one in json.loads(result.out)["processes"]})
        return all(one["calls"] for one in found.values())

    processes.wait_until(all_there, "every rank in its call")
    return found


def test_calls_of_wrappers(debian_mpi: MpiBuild, start_calls: StartCalls, tmp_path: pathlib.Path) -> None:
    job = start_calls(debian_mpi, SOURCE, *BOOST, ranks=RANKS)
    lines = truth(job)
    found = waiting(job)
    for rank in range(RANKS):
        _, line, inner = lines[rank]
        # Boost.MPI is known; of the program's own code nothing but its user knows that it wraps MPI.
        assert told(found[rank]) == (SOURCE, line if rank == 0 else inner), rank
    named = waiting(job, "--wrappers", "halo::, comm_*")
    for rank in range(RANKS):
        assert told(named[rank]) == (SOURCE, lines[rank][1]), rank
    # A Boost of its own has the call in its library, and what it was given is not told by the application's line.
    assert {one["name"]: one["value"] for one in named[1]["calls"][0]["arguments"]}["tag"] == 7
    assert waiting(job, MPI_QUEUES_WRAPPERS="halo,comm_wait") == named
    assert WRAPPERS == "MPI_QUEUES_WRAPPERS"
    recording = tmp_path / "wrapped.mpirec"
    result = cli.mpi_queues("record", *cli.pid_options(job.pids), "-o", str(recording))
    assert result.status == 0, str(result)
    shown = cli.mpi_queues("diagnose", "--recording", str(recording), "--wrappers", "halo::,comm_*", "--format", "json")
    assert shown.status == 0, str(shown)
    for process in json.loads(shown.out)["processes"]:
        assert told(process) == (SOURCE, lines[process["rank"]][1])


@pytest.mark.slow
def test_the_text_names_the_application(debian_mpi: MpiBuild, start_calls: StartCalls) -> None:
    job = start_calls(debian_mpi, SOURCE, *BOOST, ranks=RANKS)
    lines = truth(job)
    waiting(job)
    result = cli.mpi_queues("diagnose", *cli.pid_options(job.pids), "--once", "--wrappers", "halo,comm_wait")
    assert result.status == 0, str(result)
    for function, line, _ in lines.values():
        assert f"{function} at {SOURCE}:{line}" in " ".join(result.out.split()), str(result)


@pytest.mark.slow
def test_what_started_the_requests_of_boost(debian_mpi: MpiBuild, start_calls: StartCalls) -> None:
    job = start_calls(debian_mpi, REQUESTS, *BOOST, ranks=RANKS)
    said: Dict[int, Dict[str, int]] = {}

    def all_there() -> bool:
        for rank in range(RANKS):
            words = [line.split() for line in rank_output(job, rank).splitlines()]
            said[rank] = {word[0]: int(word[1]) for word in words if len(word) == 2}
        return all(len(one) == 2 for one in said.values())

    processes.wait_until(all_there, "every rank in its wait")
    processes.wait_until(lambda: len(pending(job)) == RANKS, "one receive of each rank")
    for rank, operation in pending(job).items():
        by = [(one["function"], pathlib.Path(one["file"]).name, one["line"]) for one in operation["started_by"]]
        assert by == [("MPI_Irecv", REQUESTS, said[rank]["starts"])], (rank, operation)
        # Boost.MPI keeps the request; that it is this one is told by the words of the source.
        assert not operation["started_by"][0]["certain"]
    result = cli.mpi_queues("diagnose", *cli.pid_options(job.pids), "--once")
    text = " ".join(result.out.split())
    assert text.startswith(
        "Deadlock: ranks 0-3 wait for one another (MPI_Wait, boost::mpi::wait_all, boost::mpi::wait_all, MPI_Wait)"
    )
    for one in said.values():
        assert f"perhaps started by MPI_Irecv at {REQUESTS}:{one['starts']}" in text, str(result)


def pending(job: jobs.Job) -> Dict[int, Dict[str, Any]]:
    """By rank: its only pending receive, once it has no other one."""
    found = {}
    for rank, process in waiting(job).items():
        receives = [one for all_of in process["communicators"] for one in all_of["pending_receives"]["operations"]]
        left = [one for one in receives if one["status"] == "pending"]
        if len(left) == 1:
            found[rank] = left[0]
    return found
