"""What a watch takes for movement, and when it gives the alarm: on looks that are made up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Dict, Iterator, List, Optional, Sequence

import pytest
from mpi_queues.request import Request
from mpi_queues.watching import movement, watcher
from mpi_queues.watching.clocks import Clock
from mpi_queues.watching.looks import Look, Looks, Nothing
from mpi_queues.watching.watcher import Watcher
from samples import process, snapshot

#: Far from any process that there is: the kernel says nothing of them.
PIDS = (4_190_001, 4_190_002)


def call(line: int = 10, fingerprint: str = "a", function: str = "MPI_Recv") -> Dict[str, Any]:
    place = {"file": "solver.c", "line": line, "caller": "main"}
    return {"thread": 1, "function": function, "fingerprint": fingerprint, **place}


def outside(fingerprint: str = "a", **fields: Any) -> Dict[str, Any]:
    place = {"thread": 1, "function": "work", "caller": "work", "file": "solver.c", "line": 12, "main": True}
    return {**place, "complete": True, "application": True, "fingerprint": fingerprint, **fields}


def rank(number: int, **fields: Any) -> Dict[str, Any]:
    return process(rank=number, pid=PIDS[number], **{"state": "running", "all_threads": True, **fields})


def look(*ranks: Dict[str, Any], at: float = 0.0, ran: Sequence[int] = (0, 0), here: bool = True) -> Look:
    """``ran``: nanoseconds of a processor that each rank's thread has had."""
    clocks = {pid: Clock({pid: (time, 1)}) for pid, time in zip(PIDS, ran)} if here else {}
    return Look(snapshot(*ranks), (), at, at, clocks, dict.fromkeys(clocks, 1000000000.0))


WAITING = rank(0, calls=[call()])


@pytest.mark.parametrize(
    ("before", "after", "moved"),
    [
        (rank(1, calls=[call()]), rank(1, calls=[call()]), False),
        (rank(1, calls=[call(10)]), rank(1, calls=[call(11)]), True),
        (rank(1, calls=[call(10, "a")]), rank(1, calls=[call(10, "b")]), True),
        (rank(1, calls=[call()]), rank(1, outside=[outside()]), True),
        (rank(1, outside=[outside("a")]), rank(1, outside=[outside("b")]), True),
        (rank(1, outside=[outside()]), rank(1, outside=[outside()]), False),
    ],
    ids=["in a call", "at another line", "a variable", "out of it", "outside, a variable", "outside, asleep"],
)
def test_what_moves(before: Dict[str, Any], after: Dict[str, Any], moved: bool) -> None:
    seen = movement.between(look(WAITING, before), look(WAITING, after, at=1.0), idle=True)
    assert seen.movers == (frozenset({("node1", PIDS[1])}) if moved else frozenset())


def test_a_processor_counts_outside_mpi_alone() -> None:
    inside, away = rank(1, calls=[call()]), rank(1, outside=[outside()])
    ran = {"ran": (0, 10**9), "at": 1.0}
    assert movement.between(look(WAITING, inside), look(WAITING, inside, **ran)).is_still  # type: ignore[arg-type]
    later = look(WAITING, away, **ran)  # type: ignore[arg-type]
    assert not movement.between(look(WAITING, away), later, idle=True).is_still


def test_who_sleeps_outside_mpi_moves_unless_it_is_asked_for_those() -> None:
    asleep = look(WAITING, rank(1, outside=[outside()]))
    assert movement.between(asleep, asleep).movers == {("node1", PIDS[1])}
    assert movement.between(asleep, asleep, idle=True).is_still


def test_what_it_has_started_counts() -> None:
    one = look(WAITING, rank(1, outside=[outside()]))
    first = replace(one, started={PIDS[1]: {7: 1.0}})
    assert movement.between(first, replace(first, started={PIDS[1]: {7: 1.0}}), idle=True).is_still
    assert not movement.between(first, replace(first, started={PIDS[1]: {7: 1.5}}), idle=True).is_still
    assert not movement.between(first, one, idle=True).is_still


def test_on_another_node_who_waits_for_the_kernel_is_still() -> None:
    waits = rank(1, outside=[outside(system_call={"name": "read", "waits": True})])
    works = rank(1, outside=[outside(system_call={"name": None, "waits": False})])
    assert movement.between(look(WAITING, waits, here=False), look(WAITING, waits, here=False), idle=True).is_still
    assert not movement.between(look(WAITING, works, here=False), look(WAITING, works, here=False), idle=True).is_still


def test_who_comes_or_goes_moves() -> None:
    both, alone = look(WAITING, rank(1, calls=[call()])), look(WAITING)
    assert not movement.between(both, alone).is_still
    assert not movement.between(alone, both).is_still
    assert movement.between(both, replace(alone, whole=False)).is_still


def test_who_has_made_a_step_by_the_flight_recorder_moves() -> None:
    """All else may look alike by chance, as of a ping-pong."""
    both = look(WAITING, rank(1, calls=[call()]))
    first = replace(both, steps={PIDS[0]: [(7, 5)], PIDS[1]: [(8, 9)]})
    assert movement.between(first, first).is_still
    later = replace(first, steps={PIDS[0]: [(7, 5)], PIDS[1]: [(8, 10)]})
    assert movement.between(first, later).movers == {("node1", PIDS[1])}
    # Whose record could not be read at one of the looks is not known to have moved.
    assert movement.between(first, both).is_still


def past(number: int, function: str) -> Dict[str, Any]:
    return {"number": number, "began_at": "2026-11-26T12:00:00.000Z", "function": function}


def history(begun: int, *calls: Dict[str, Any]) -> Dict[str, Any]:
    thread = {"kernel_thread": 7, "begun": begun, "current": begun, "calls": list(calls)}
    return {"threads": [thread], "requests": [], "communicators": []}


@pytest.mark.parametrize(
    ("calls", "moved"),
    [
        ([past(4, "MPI_Send"), past(5, "MPI_Recv")], False),
        ([past(4, "MPI_Send"), past(5, "MPI_Recv"), past(6, "MPI_Recv")], True),
        ([past(5, "MPI_Recv"), past(6, "MPI_Iprobe"), past(7, "MPI_Testsome")], False),
        ([past(5, "MPI_Recv"), past(6, "MPI_Send"), past(7, "MPI_Test")], True),
    ],
    ids=["nothing", "a call", "polls", "a call and a poll"],
)
def test_on_another_node_calls_tell(calls: List[Dict[str, Any]], moved: bool) -> None:
    before = rank(1, calls=[call()], history=history(5, past(4, "MPI_Send"), past(5, "MPI_Recv")))
    after = rank(1, calls=[call()], history=history(calls[-1]["number"], *calls))
    seen = movement.between(look(WAITING, before, here=False), look(WAITING, after, here=False))
    assert seen.movers == (frozenset({("node1", PIDS[1])}) if moved else frozenset())


def test_messages_that_were_seen_move() -> None:
    both = look(WAITING, rank(1, calls=[call()]))
    assert movement.between(both, replace(both, moving=frozenset({PIDS[1]}))).movers == {("node1", PIDS[1])}


class MadeUp(Looks):
    """Looks at what is there at each, one after the other, and a clock that goes on by one with each."""

    def __init__(self, *there: Optional[List[Dict[str, Any]]]) -> None:
        super().__init__(list, Request())
        self._there = iter(there)
        self.now = 0.0
        #: How many ranks each look was at.
        self.seen: List[int] = []

    def _taken(self) -> Look:
        self.now += 1.0
        ranks = next(self._there)
        if ranks is None:
            raise Nothing("none")
        self.seen.append(len(ranks))
        return look(*ranks, at=self.now, ran=[int(self.now) if one["outside"] else 0 for one in map(full, ranks)])

    def all(self, seconds: float = 0.0) -> Look:
        return self._taken()

    def some(self, pids: Sequence[int]) -> Look:
        taken = self._taken()
        kept = taken.snapshot.only(list(pids))
        self.seen[-1] = len(kept.processes)
        return replace(taken, snapshot=kept, whole=False)


def full(one: Dict[str, Any]) -> Dict[str, Any]:
    return {"outside": [], **one}


STILL = [WAITING, rank(1, calls=[call()])]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[List[MadeUp]]:
    """The time is that of the looks."""
    looks: List[MadeUp] = []
    monkeypatch.setattr(watcher.time, "monotonic", lambda: looks[0].now)
    return looks


def steps(clock: List[MadeUp], made: MadeUp, after: float, count: int) -> List[bool]:
    """Whether each step gave the alarm."""
    clock[:] = [made]
    watch = Watcher(made, after)
    told = []
    for _ in range(count):
        try:
            told.append(watch.step() is not None)
        except Nothing:
            told.append(False)
        if told[-1]:
            break
    return told


def test_the_alarm_comes_when_nothing_has_moved_for_so_long(clock: List[MadeUp]) -> None:
    made = MadeUp(*[STILL] * 20)
    # The first look is at 1; the fourth is the first that is 3 later, and six more confirm it.
    assert steps(clock, made, 3.0, 20) == [False, False, False, True]
    assert made.now == 10.0


def test_one_that_moves_while_it_is_confirmed_takes_it_back(clock: List[MadeUp]) -> None:
    moved = [WAITING, rank(1, calls=[call(11)])]
    made = MadeUp(*[STILL] * 6, moved, *[STILL] * 3)
    assert steps(clock, made, 3.0, 5) == [False] * 5


def test_while_a_rank_moves_it_alone_is_looked_at(clock: List[MadeUp]) -> None:
    working = [[WAITING, rank(1, outside=[outside(str(number))])] for number in range(12)]
    made = MadeUp(*working)
    assert steps(clock, made, 3.0, 12) == [False] * 12
    # Two looks at all find who moves; then all are looked at once in twice the time that is named.
    assert made.seen == [2, 2, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1]


class Recorded(MadeUp):
    """With the flight recorder, by which ranks make steps when ``made`` says so; nobody is looked at for that."""

    def __init__(self, made: Sequence[Sequence[int]], *there: Optional[List[Dict[str, Any]]]) -> None:
        super().__init__(*there)
        self._made = iter(made)
        self._now: Dict[int, int] = dict.fromkeys(PIDS, 0)

    @property
    def pids(self) -> List[int]:
        return list(PIDS)

    def steps(self) -> Dict[int, Any]:
        self.now += 1.0
        for number in next(self._made):
            self._now[PIDS[number]] += 1
        return {pid: [(pid, steps)] for pid, steps in self._now.items()}

    def _taken(self) -> Look:
        taken = super()._taken()
        return replace(taken, steps={pid: [(pid, steps)] for pid, steps in self._now.items()})


def test_while_ranks_make_steps_nobody_is_looked_at(clock: List[MadeUp]) -> None:
    working = [[WAITING, rank(1, outside=[outside(str(number))])] for number in range(2)]
    # Rank 1 computes at first; then both call MPI, also when all would be looked at.
    made = Recorded([[0], [1]] * 8, *working)
    assert steps(clock, made, 3.0, 18) == [False] * 18
    assert made.seen == [2, 2]


def test_where_one_makes_no_step_all_are_looked_at(clock: List[MadeUp]) -> None:
    working = [[WAITING, rank(1, outside=[outside(str(number))])] for number in range(3)]
    made = Recorded([[1]] * 10, *working)
    assert steps(clock, made, 3.0, 10) == [False] * 10
    assert made.seen == [2, 2, 2]


def test_ranks_that_make_steps_no_more_are_told(clock: List[MadeUp]) -> None:
    working = [[WAITING, rank(1, outside=[outside(str(number))])] for number in range(2)]
    made = Recorded([[0], [0], *[[]] * 30], *working, *[STILL] * 30)
    assert steps(clock, made, 3.0, 20)[-1]


def test_where_nothing_is_there_it_begins_anew(clock: List[MadeUp]) -> None:
    made = MadeUp(STILL, STILL, STILL, None, STILL, STILL, STILL, *[STILL] * 7)
    assert steps(clock, made, 3.0, 8) == [False] * 7 + [True]


def test_a_job_that_is_stopped_does_not_hang(clock: List[MadeUp]) -> None:
    stopped = [{**one, "state": "stopped"} for one in STILL]
    assert steps(clock, MadeUp(*[stopped] * 30), 3.0, 30) == [False] * 30
    traced = [STILL[0], {**STILL[1], "state": "traced"}]
    assert steps(clock, MadeUp(*[traced] * 30), 3.0, 30) == [False] * 30


def test_pauses_keep_to_the_budget(clock: List[MadeUp], monkeypatch: pytest.MonkeyPatch) -> None:
    used = iter([0.0, 0.25, 1.0, 1.25, 2.0, 2.25])
    monkeypatch.setattr(watcher.time, "process_time", lambda: next(used))
    working = [[WAITING, rank(1, outside=[outside(str(number))])] for number in range(3)]
    clock[:] = [MadeUp(*working)]
    watch = Watcher(clock[0], 600.0)
    watch.step()
    # It is not known whether it moves: ten looks in the time.
    assert watch.pause == 60.0
    watch.step()
    # It does, and a look took 0.25 s of a processor.
    assert watch.pause == 250.0
