"""Which calls started the requests that ranks wait for: what is told, against what the programs say."""

from __future__ import annotations

import pathlib
from typing import Any, Dict, List, Set, Tuple

import mpi_queues
import pytest
from mpi_queues import jobs
from support import cli, processes
from support.builds import MpiBuild
from test_arguments import StartCalls, rank_output, start_calls

__all__ = ["start_calls"]

Json = Dict[str, Any]
Call = Tuple[str, int]

#: Ranks of calls_started.c of which the source leaves only one call, by request.
CERTAIN = {1, 2, 3, 4, 5, 10, 12, 14}

RANKS = 16

#: gcc takes the value of MPICH's MPI_STATUSES_IGNORE, 1, for the address of an array.
FLAGS = ("-g", "-O0", "-Wno-stringop-overflow", "-Wno-stringop-overread")


def truth_of(job: jobs.Job, rank: int) -> Dict[int, Call]:
    """By index: who started what the rank waits for."""
    found = {}
    for line in rank_output(job, rank).splitlines():
        word, *rest = line.split()
        if word == "started":
            found[int(rest[0])] = (rest[1], int(rest[2]))
    return found


def named(started_by: List[Json], source: str) -> List[Call]:
    assert all(pathlib.Path(one["file"]).name == source for one in started_by)
    return [(one["function"], one["line"]) for one in started_by]


def waiting(job: jobs.Job, *options: str) -> Dict[int, Json]:
    """By rank: its process, once all but rank 0 are in their calls."""
    found: Dict[int, Json] = {}

    def all_there() -> bool:
        found.clear()
        found.update({one["rank"]: one for one in cli.show(job.pids, *options).values()})
        return all(one["calls"] for rank, one in found.items() if rank != 0)

    processes.wait_until(all_there, "every rank in its call")
    return found


def check(job: jobs.Job, found: Dict[int, Json], source: str, certain: Set[int]) -> None:
    """No line is certain that is not the one, and that one is told, first where it is the only one."""
    for rank, process in found.items():
        truth = truth_of(job, rank)
        requests = [request for call in process["calls"] for request in call.get("requests", [])]
        for request in requests:
            told = request.get("started_by", [])
            assert truth[request["index"]] in named(told, source), (rank, request)
            assert len(told) == 1 or not any(one["certain"] for one in told)
            if any(one["certain"] for one in told):
                assert named(told, source) == [truth[request["index"]]], (rank, request)
            assert told[0]["certain"] == (rank in certain), (rank, request)
        assert len(requests) == len(truth) or not requests, rank


def operations(process: Json) -> List[Json]:
    queues = [one[name] for one in process["communicators"] for name in ("pending_sends", "pending_receives")]
    return [one for queue in queues for one in queue["operations"] if not one["internal"]]


def test_who_started_requests(mpi_build: MpiBuild, start_calls: StartCalls) -> None:
    job = start_calls(mpi_build, "calls_started.c", "-g", "-O0", ranks=RANKS)
    found = waiting(job)
    check(job, found, "calls_started.c", CERTAIN)
    # Not waited for: the variable that the call is given has the request.
    (unwaited,) = [one for one in operations(found[15]) if one["desired_tag"] == 17]
    assert named(unwaited["started_by"], "calls_started.c") == [truth_of(job, 15)[0]]
    # A blocking call is not looked for.
    (blocking,) = [one for one in operations(found[15]) if one["desired_tag"] == 18]
    assert "started_by" not in blocking
    shown = cli.mpi_queues("diagnose", *cli.pid_options(job.pids), "--once", "-v").out
    function, line = truth_of(job, 1)[0]
    assert f"request request, started by {function} at " in shown
    assert f"calls_started.c:{line}" in shown


@pytest.mark.slow
def test_who_started_requests_of_mpich(mpich_build: MpiBuild, start_calls: StartCalls) -> None:
    job = start_calls(mpich_build, "calls_started.c", *FLAGS, ranks=RANKS)
    check(job, waiting(job), "calls_started.c", CERTAIN)


@pytest.mark.slow
def test_where_variables_are_gone(mpi_build: MpiBuild, start_calls: StartCalls) -> None:
    """What compilers optimise away is no reason for a wrong line."""
    job = start_calls(mpi_build, "calls_started.c", "-g", "-O2", "-fno-inline", ranks=RANKS)
    for rank, process in waiting(job).items():
        truth = truth_of(job, rank)
        for request in (request for call in process["calls"] for request in call.get("requests", [])):
            told = request.get("started_by", [])
            assert truth[request["index"]] in named(told, "calls_started.c") or not told, (rank, request)
            assert not told or not told[0]["certain"] or named(told, "calls_started.c") == [truth[request["index"]]]


@pytest.mark.slow
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_without_the_source(mpi_build: MpiBuild, start_calls: StartCalls, level: str) -> None:
    """The calls in the machine code, with their lines."""
    job = start_calls(mpi_build, "calls_started.c", "-g", level, "-fno-inline", ranks=RANKS)
    for source in pathlib.Path(job.program).parent.glob("calls*.c"):
        source.unlink()
    found = waiting(job)
    told = {
        rank: [one.get("started_by", []) for call in process["calls"] for one in call.get("requests", [])]
        for rank, process in found.items()
    }
    assert not any(one["certain"] for lists in told.values() for started in lists for one in started)
    # With one call in the function, and with those that the library can tell apart.
    for rank in (1, 4, 10) if level == "-O0" else (4,):
        truth = truth_of(job, rank)
        assert all(truth[index] in named(started, "calls_started.c") for index, started in enumerate(told[rank])), rank


@pytest.mark.slow
def test_fortran(debian_mpi: MpiBuild, start_calls: StartCalls) -> None:
    job = start_calls(debian_mpi, "calls_started.f90", "-g", "-O0")
    check(job, waiting(job), "calls_started.f90", {1, 2})


@pytest.mark.slow
def test_cxx(mpi_build: MpiBuild, start_calls: StartCalls) -> None:
    job = start_calls(mpi_build, "calls_started.cc", "-g", "-O0", ranks=3)
    check(job, waiting(job), "calls_started.cc", {1})


@pytest.mark.slow
def test_a_recording_tells_it_without_the_source(
    mpi_build: MpiBuild, start_calls: StartCalls, tmp_path: pathlib.Path
) -> None:
    job = start_calls(mpi_build, "calls_started.c", "-g", "-O0", ranks=RANKS)
    live = waiting(job)
    file = tmp_path / "started.mpirec"
    result = cli.mpi_queues("record", *cli.pid_options(job.pids), "-o", str(file))
    assert result.status == 0, str(result)
    for source in pathlib.Path(job.program).parent.glob("calls*.c"):
        source.unlink()
    recorded = mpi_queues.load(file)
    for rank, process in live.items():
        requests = [request for call in process["calls"] for request in call.get("requests", [])]
        again = [request for call in recorded.rank(rank).calls for request in call.get("requests", [])]
        assert [one.get("started_by") for one in again] == [one.get("started_by") for one in requests]
