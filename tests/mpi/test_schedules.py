"""What libraries have planned for non-blocking collectives, against the functions that the programs called."""

from __future__ import annotations

import collections
import json
from typing import Any, Dict, Iterator, List, NamedTuple, Tuple

import pytest
from mpi_queues import jobs
from support import cli, processes
from support.builds import MpiBuild
from test_arguments import StartCalls, rank_output, start_calls

__all__ = ["start_calls"]

Json = Dict[str, Any]

RANKS = 8

#: Sizes of communicators.
SIZES = ("2", "3", "4", "5", "8")

#: gcc takes the value of MPICH's MPI_STATUSES_IGNORE, 1, for the address of an array.
FLAGS = ("-g", "-O0", "-Wno-stringop-overflow", "-Wno-stringop-overread")

#: Of an intercommunicator: the size of the first group (``between`` in the program).
CUT = (2 * RANKS + 2) // 3


class Started(NamedTuple):
    """A collective that a rank has started, as it says."""

    handle: str
    function: str
    root: int
    place: str


def said_by(job: jobs.Job, rank: int) -> List[Started]:
    lines = [line.split() for line in rank_output(job, rank).splitlines()]
    return [Started(line[1], line[2], int(line[3]), line[4]) for line in lines if line[0] == "planned"]


def described(job: jobs.Job) -> Dict[int, Dict[str, Json]]:
    """By rank and handle: the requests of all ranks."""
    processes.wait_until(
        lambda: all("ready" in rank_output(job, rank) for rank in range(RANKS)), "every rank to have started all"
    )
    result = cli.mpi_queues("handles", *cli.pid_options(job.pids), "request", "--format", "json")
    assert result.status in (0, 1), str(result)
    return {
        process["rank"]: {one["handle"]: one for kind in process["handles"] for one in kind["handles"]}
        for process in json.loads(result.out)["processes"]
    }


def known(job: jobs.Job) -> Iterator[Tuple[int, int, Started, Json]]:
    """Rank, number among those on a communicator, what was started, and its request while it goes on."""
    requests = described(job)
    for rank in range(RANKS):
        said = said_by(job, rank)
        often = collections.Counter(one.handle for one in said)
        numbers: Dict[str, int] = collections.Counter()
        for one in said:
            numbers[one.place] += 1
            request = requests[rank].get(one.handle)
            # What was complete at once shares a request; what is complete has no plan any more.
            if often[one.handle] == 1 and request is not None and not request["facts"]["complete"]:
                yield rank, numbers[one.place], one, request


def check(job: jobs.Job, mpi: str) -> None:
    """No function is told that it was not, no root, and no message that nobody expects."""
    table: Dict[str, Dict[str, int]] = collections.defaultdict(collections.Counter)
    plans: Dict[Tuple[str, int], Dict[Tuple[int, int], Json]] = collections.defaultdict(dict)
    for rank, number, one, request in known(job):
        facts = request["facts"]
        possible = {each["function"]: each for each in facts.get("possible_calls", ())}
        assert not possible or one.function in possible, (rank, one, request)
        assert facts["call"] in (None, one.function), (rank, one, request)
        roots = possible.get(one.function, {}).get("roots")
        assert roots is None or one.root < 0 or one.root in roots, (rank, one, request)
        row = table[one.function]
        row["all"] += 1
        row["one function"] += len(possible) == 1
        row["several"] += len(possible) > 1
        row["one root"] += roots is not None and len(roots) == 1
        across = one.place.startswith("i")
        side, local = (int(rank >= CUT), rank - CUT * (rank >= CUT)) if across else (0, rank)
        plans["i" if across else one.place, number][side, local] = facts
    print(f"\n{mpi}: functions, of how many requests, and in how many they are known")
    for function, row in sorted(table.items()):
        print(
            f"  {function:28}"
            + "".join(f"{name} {row[name]:5}  " for name in ("all", "one function", "several", "one root"))
        )
    assert len(table) >= 20, "hardly anything goes on"
    assert check_messages(plans) > 1000


def check_messages(plans: Dict[Tuple[str, int], Dict[Tuple[int, int], Json]]) -> int:
    """What one has planned to send, the other has planned to receive; how much was compared."""
    compared = 0
    for place, members in plans.items():
        for (side, local), facts in members.items():
            for mine, others in (("planned_sends", "planned_receives"), ("planned_receives", "planned_sends")):
                for one in facts.get(mine) or ():
                    other = members.get((1 - side if place[0] == "i" else 0, one["peer"]), {}).get(others)
                    if other is None:
                        continue
                    found = [each for each in other if each["peer"] == local]
                    assert found, (place, side, local, mine, one)
                    assert found[0]["messages"] == one["messages"], (place, side, local, mine, one)
                    assert None in (found[0]["bytes"], one["bytes"]) or found[0]["bytes"] == one["bytes"]
                    compared += 1
    return compared


@pytest.mark.slow
def test_plans_of_all_collectives(mpi_build: MpiBuild, start_calls: StartCalls) -> None:
    job = start_calls(mpi_build, "calls_schedules.c", *FLAGS, ranks=RANKS, arguments=SIZES)
    check(job, mpi_build.id)


@pytest.mark.slow
def test_plans_of_all_collectives_in_mpich(mpich_build: MpiBuild, start_calls: StartCalls) -> None:
    job = start_calls(mpich_build, "calls_schedules.c", *FLAGS, ranks=RANKS, arguments=SIZES)
    check(job, mpich_build.id)


#: What a user may ask of libnbc: other algorithms.
ALGORITHMS = {
    "OMPI_MCA_coll_libnbc_ibcast_algorithm": "4",
    "OMPI_MCA_coll_libnbc_iallreduce_algorithm": "4",
    "OMPI_MCA_coll_libnbc_ireduce_algorithm": "1",
    "OMPI_MCA_coll_libnbc_iallgather_algorithm": "2",
    "OMPI_MCA_coll_libnbc_iscan_algorithm": "2",
    "OMPI_MCA_coll_libnbc_iexscan_algorithm": "2",
}


@pytest.mark.parametrize(
    "change", [{}, {"OMPI_MCA_coll_libnbc_ibcast_algorithm": "2", "OMPI_MCA_coll_libnbc_iallreduce_algorithm": "1"}]
)
@pytest.mark.slow
def test_plans_of_other_algorithms(
    mpi_build: MpiBuild, start_calls: StartCalls, monkeypatch: pytest.MonkeyPatch, change: Dict[str, str]
) -> None:
    for name, value in {**ALGORITHMS, **change}.items():
        monkeypatch.setenv(name, value)
    job = start_calls(mpi_build, "calls_schedules.c", *FLAGS, ranks=RANKS, arguments=SIZES)
    check(job, mpi_build.id)
