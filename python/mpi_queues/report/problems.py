"""What could not be read, in a few lines: damage everywhere is told once a kind, with a count."""

from __future__ import annotations

from typing import Dict, List

from .._native import Process, Snapshot
from . import handles, worlds
from .words import counted

#: So many ranks, or handles of a kind, are named one by one.
_MOST_NAMES = 4


def of_snapshot(snapshot: Snapshot) -> List[str]:
    """What could not be read of its processes, in sentences."""
    found: List[str] = []
    together: Dict[str, List[str]] = {}
    for process in snapshot.with_problems():
        who = worlds.who(process)
        for problem in process.problems:
            together.setdefault(problem, []).append(who)
        for handle_list in process.handles:
            of_handles = [f"{who}: {problem}" for problem in handles.problems_of(handle_list)]
            found += of_handles[:_MOST_NAMES]
            if len(of_handles) > _MOST_NAMES:
                more = counted(len(of_handles) - _MOST_NAMES, "more problem")
                found.append(f"{who}: there are {more} with handles of the kind {handle_list['kind']}")
        found += _of_queues(who, process)
    return found + [f"{_listed(names)}: {problem}" for problem, names in together.items()]


def _of_queues(who: str, process: Process) -> List[str]:
    """Those of its communicators; what is wrong with many of them alike is told once."""
    together: Dict[str, List[str]] = {}
    for communicator in process.communicators:
        for queue in (communicator.pending_sends, communicator.pending_receives, communicator.unexpected_messages):
            if queue.state == "error":
                together.setdefault(str(queue.detail), []).append(communicator.name)
    found = []
    for detail, names in together.items():
        others = len(dict.fromkeys(names)) - 1
        more = f" and {counted(others, 'more communicator')}" if others else ""
        found.append(f"{who}, {names[0]}{more}: {detail}")
    return found


def _listed(names: List[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more
