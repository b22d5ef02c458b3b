"""Whether anything of a job has moved between two looks at it.

A rank has moved where the diagnosis of both looks says so (it stands elsewhere, its variables, queues or messages have
changed), where the flight recorder has seen it go on, or where a thread of the application that is outside MPI has had
a processor: it computes, or it sleeps and wakes. Inside MPI a processor says nothing: libraries wait by asking again
and again. What a rank has started (a script) counts as the rank.

A rank outside MPI that merely sleeps, or waits for a file, counts as one that moves, too: correct programs do so for
hours. Unless ranks can never go on, or it is asked for those who idle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, FrozenSet, List, Optional, Set

from .._native import POLLS, Diagnosis, Process
from .looks import Look, Place

#: Calls that tell nothing of movement: whoever waits for what never comes makes them for ever.
_POLLS = frozenset(POLLS)

#: What a diagnosis says of the whole where it knows, or suspects, that ranks can never go on.
_STUCK = ("deadlock", "suspect")


@dataclass(frozen=True)
class Seen:
    """What two looks at the same job have shown."""

    diagnosis: Diagnosis
    #: The processes that moved, and those that came or went.
    movers: FrozenSet[Place]
    #: Ranks that can never go on, for certain, whatever others do.
    held: FrozenSet[int]

    @property
    def is_still(self) -> bool:
        """Whether nothing has moved."""
        return not self.movers


def between(earlier: Look, later: Look, *, idle: bool = False) -> Seen:
    """Compares two looks. Where either is at some ranks only, these alone are compared. ``idle``: who sleeps outside
    MPI does not move."""
    both = set(earlier.places) & set(later.places)
    diagnosis = later.snapshot.diagnose(
        earlier.snapshot.only(sorted(both)),
        interval_ms=int((later.begun - earlier.ended) * 1000),
        moving=sorted(later.moving, key=str),
        unseen=sorted(later.unseen, key=str),
    )
    movers: Set[Place] = set()
    if earlier.whole and later.whole:
        movers |= set(earlier.places) ^ set(later.places)
    moved_ranks: Set[int] = set()
    stuck = diagnosis.state in _STUCK
    sleepers_move = not (stuck or idle)
    recorded = _recorded_elsewhere(earlier)
    for process, movement in zip(diagnosis.snapshot.processes, diagnosis.movement):
        if process.host is None or process.pid is None or (process.host, process.pid) not in both:
            continue
        place = (process.host, process.pid)
        is_asleep = sleepers_move and not process.calls
        went_on = _went_on(process.pid, earlier, later) or _called(recorded.get(place), process)
        if is_asleep or went_on or _has_moved(process, movement["state"], earlier, later, stuck=stuck):
            movers.add(place)
            if movement["rank"] is not None:
                moved_ranks.add(movement["rank"])
    return Seen(diagnosis, frozenset(movers), _held(diagnosis) - moved_ranks)


def _went_on(pid: int, earlier: Look, later: Look) -> bool:
    """Whether the flight recorder says so of a process of this machine."""
    first, last = earlier.steps.get(pid), later.steps.get(pid)
    return first is not None and last is not None and first != last


def _recorded_elsewhere(look: Look) -> Dict[Place, Dict[str, Any]]:
    """The records of processes of other nodes."""
    processes = look.snapshot.processes if len(look.places) > len(look.clocks) else []
    return {
        (one.host, one.pid): one.history
        for one in processes
        if one.host is not None and one.pid is not None and one.pid not in look.clocks and one.history is not None
    }


def _called(earlier: Optional[Dict[str, Any]], process: Process) -> bool:
    """The same of a process of another node, by its latest calls: whether one that was begun since is no poll."""
    later = process.history if earlier is not None else None
    if earlier is None or later is None:
        return False
    begun: Dict[int, int] = {thread["kernel_thread"]: thread["begun"] for thread in earlier["threads"]}
    return any(
        call["number"] > begun.get(thread["kernel_thread"], 0) and call["function"] not in _POLLS
        for thread in later["threads"]
        for call in thread["calls"]
    )


def _held(diagnosis: Diagnosis) -> FrozenSet[int]:
    if diagnosis.state != "deadlock":
        return frozenset()
    return frozenset(rank for finding in diagnosis.findings if finding.certain for rank in finding.ranks)


def _has_moved(process: Process, state: str, earlier: Look, later: Look, *, stuck: bool) -> bool:
    if state in ("moved", "slow"):
        return True
    if state == "spinning":
        # It asks again and again, and may compute in between: unless what it asks for cannot come.
        return not stuck
    pid = process.pid or 0
    if pid not in later.clocks:
        # On another node nobody counts: what is outside MPI is at work, unless all that it does is to wait.
        return any(_is_at_work(thread) for thread in process.outside if _is_of_application(thread, process))
    return _ran(process, pid, earlier, later) or earlier.started.get(pid) != later.started.get(pid)


def _is_of_application(thread: Dict[str, Any], process: Process) -> bool:
    return bool(thread["application"]) or (bool(thread["main"]) and not process.calls)


def _is_at_work(thread: Dict[str, Any]) -> bool:
    call = thread.get("system_call")
    return not (isinstance(call, dict) and call.get("waits"))


def _ran(process: Process, pid: int, earlier: Look, later: Look) -> bool:
    """Whether a thread outside MPI has had a processor."""
    first, last = earlier.clocks.get(pid), later.clocks.get(pid)
    if first is None or last is None:
        return True
    threads: List[int] = [thread["thread"] for thread in process.outside if _is_of_application(thread, process)]
    if not process.calls and not process.outside:
        # Where its threads stand is not known.
        return first != last
    return any(first.thread(number, pid) != last.thread(number, pid) for number in threads)
