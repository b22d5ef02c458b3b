"""Processes of several worlds are numbered through, and what cannot be numbered is null."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Sequence

import pytest
from mpi_queues._native import Snapshot
from mpi_queues.report import text

Json = Dict[str, Any]


def _elsewhere(world: str, rank: int, count: int = 1, *, remote: bool = True, local: int = 0) -> Json:
    return {"remote": remote, "local_rank": local, "count": count, "world_key": world, "rank": rank}


def _process(world: Optional[str], rank: Optional[int], size: Optional[int], pid: int, **more: Any) -> Json:
    return {"world_key": world, "rank": rank, "world_size": size, "pid": pid, **more}


def _comm(
    name: str, group: Sequence[Optional[int]], remote: Optional[Sequence[Optional[int]]] = None, **more: Any
) -> Json:
    return {"name": name, "local_rank": 0, "size": len(group), "group": group, "remote_group": remote, **more}


def _merged(processes: Sequence[Json], **options: Any) -> Snapshot:
    parts = [Snapshot.from_json(json.dumps({"schema": "mpi-queues/1", "processes": [one]})) for one in processes]
    return Snapshot.merged(parts, **options)


def _json(snapshot: Snapshot) -> Json:
    told: Json = json.loads(snapshot.to_json())
    return told


#: Two parents and their child, which was met before them.
CHILD = _process(
    "b",
    0,
    1,
    50,
    parent_world_key="a",
    communicators=[
        _comm(
            "MPI_COMM_PARENT",
            [0],
            [None, None],
            elsewhere=[_elsewhere("a", 0, 2)],
            pending_sends={
                "operations": [{"desired_local_rank": 1, "actual_local_rank": 1}, {"desired_local_rank": 9}]
            },
        ),
        _comm("merged", [None, None, 0], elsewhere=[_elsewhere("a", 0, 2, remote=False)]),
    ],
)
PARENTS = [
    _process("a", rank, 2, 100 + rank, communicators=[_comm("child", [0, 1], [None], elsewhere=[_elsewhere("b", 0)])])
    for rank in (1, 0)
]


def test_the_first_world_is_the_beginning_of_the_universe() -> None:
    snapshot = _merged([CHILD, *PARENTS])
    assert [(process.rank, process.universe_rank, process.pid) for process in snapshot.processes] == [
        (0, 0, 100),
        (1, 1, 101),
        (0, 2, 50),
    ]
    assert [(w["number"], w["key"], w["size"], w["first"], w["parent"]) for w in snapshot.worlds] == [
        (0, "a", 2, 0, None),
        (1, "b", 1, 2, 0),
    ]
    child = snapshot.rank(2)
    assert child.pid == 50
    assert child.communicator("MPI_COMM_PARENT").group == [2]
    assert child.communicator("MPI_COMM_PARENT").remote_group == [0, 1]
    assert child.communicator("merged").group == [0, 1, 2]
    first, wrong = child.communicator("MPI_COMM_PARENT").pending_sends
    assert (first.desired_global_rank, first.actual_global_rank) == (1, 1)
    assert wrong.desired_global_rank is None
    assert snapshot.rank(0).communicator("child").remote_group == [2]
    assert [process.pid for process in snapshot.filtered(rank=2).processes] == [50]
    assert text.chosen(snapshot, comm=None, rank=2).processes[0].pid == 50


def test_merging_what_was_numbered_changes_nothing() -> None:
    snapshot = _merged([CHILD, *PARENTS])
    again = Snapshot.from_json(snapshot.to_json())
    assert again == snapshot
    assert again.rank(2).pid == 50


def test_one_world_shows_nothing_of_worlds() -> None:
    single = [_process("a", rank, 2, 10 + rank, communicators=[_comm("w", [0, 1])]) for rank in range(2)]
    without = [{name: value for name, value in process.items() if name != "world_key"} for process in single]
    assert _json(_merged(single)) == _json(_merged(without))


def test_a_world_after_one_of_unknown_size_has_no_place() -> None:
    parent = {**PARENTS[0], "world_size": None}
    snapshot = _merged([CHILD, parent])
    child = snapshot.processes[-1]
    assert [world["first"] for world in snapshot.worlds] == [0, None]
    assert (child.pid, child.rank, child.universe_rank) == (50, 0, None)
    merged = child.communicator("merged")
    # Of the first world all is known, of its own nothing but what is said beside it.
    assert merged.group == [0, 1, None]
    assert [(run["local_rank"], run["world_key"], run["rank"]) for run in merged.elsewhere] == [
        (0, "a", 0),
        (2, "b", 0),
    ]
    with pytest.raises(KeyError):
        snapshot.rank(2)


def test_the_job_says_which_worlds_there_are() -> None:
    keyless = [{**process, "world_key": None} for process in (*PARENTS, _process(None, 0, 1, 60))]
    worlds = [(0, "first", 2, 0, None, [100, 101]), (1, "unread", 4, 2, 0, []), (2, None, 1, 6, 1, [60])]
    snapshot = _merged(keyless, worlds=worlds)
    assert [(process.pid, process.world, process.universe_rank) for process in snapshot.processes] == [
        (100, 0, 0),
        (101, 0, 1),
        (60, 2, 6),
    ]
    assert [world["name"] for world in snapshot.worlds] == ["first", "unread", None]
    # One that the job does not have follows.
    more = _merged([*keyless, _process("z", 3, 4, 999)], worlds=worlds)
    assert [(process.pid, process.world, process.universe_rank) for process in more.processes][-1] == (
        999,
        3,
        10,
    )


def test_a_process_of_an_unknown_world_is_not_taken_for_one_of_the_first() -> None:
    stranger = _process(None, 1, 2, 7, communicators=[_comm("w", [0, 1])])
    process = _merged([*PARENTS, CHILD, stranger]).processes[-1]
    assert (process.pid, process.rank, process.universe_rank) == (7, 1, None)
    assert process.communicator("w").group == [None, None]
    assert "not known which of the worlds" in process.notes[0]


def test_peers_within_a_local_group_are_not_those_of_the_remote_one() -> None:
    operations = [{"desired_local_rank": 0, "extra_text": ["within the local group of the intercommunicator"]}]
    comm = _comm(
        "between",
        [None, 0],
        [1],
        elsewhere=[_elsewhere("a", 1, remote=False)],
        pending_receives={"operations": operations},
    )
    snapshot = _merged([*PARENTS, _process("b", 0, 2, 50, parent_world_key="a", communicators=[comm])])
    (receive,) = snapshot.rank(2).communicator("between").pending_receives
    assert snapshot.rank(2).communicator("between").remote_group == [3]
    assert receive.desired_global_rank == 1


@pytest.mark.parametrize(
    "damage",
    [
        {"local_rank": -1, "count": 2, "rank": 0},
        {"local_rank": 2**62, "count": 2**63 - 1, "rank": 2**63 - 1},
        {"local_rank": 0, "count": 2**63 - 1, "rank": 2**63 - 1},
        {"local_rank": 0, "count": -5, "rank": -7},
        {"local_rank": 0, "count": 3, "rank": -(2**63)},
        {"local_rank": -(2**63), "count": 2**63 - 1, "rank": 0},
    ],
)
def test_damaged_names_are_null(damage: Json) -> None:
    comm = _comm("c", [0], [None], elsewhere=[{"remote": True, "world_key": "a", **damage}])
    snapshot = _merged([*PARENTS, _process("b", 0, 1, 50, parent_world_key="b", communicators=[comm])])
    child = next(process for process in snapshot.processes if process.pid == 50)
    assert child.communicator("c").remote_group == [None]
    shown: List[str] = []
    text.write_communicators(snapshot, shown.append)
    text.write_queues(snapshot, shown.append)
    assert "remote" in "".join(shown)


def test_parents_in_a_ring_and_absurd_sizes_are_survived() -> None:
    ring = [
        _process("a", 0, 2**63 - 1, 1, parent_world_key="b"),
        _process("b", 0, 2**63 - 1, 2, parent_world_key="a"),
        _process("c", 0, 1, 3, parent_world_key="c"),
    ]
    snapshot = _merged(ring)
    assert sorted(process.pid or 0 for process in snapshot.processes) == [1, 2, 3]
    assert len({process.universe_rank for process in snapshot.processes if process.universe_rank is not None}) >= 1


def test_the_text_names_worlds_that_were_not_read() -> None:
    parts = [_process("b", 0, 1, 50, communicators=CHILD["communicators"])]
    written: List[str] = []
    text.write_communicators(_merged(parts), written.append, text.Options())
    assert "  0 | remote another world (a): 0 and 1\n" in "".join(written)
    assert "  another world (a): 0 and 1; 0\n" in "".join(written)
