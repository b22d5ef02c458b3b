"""Words for processes where a job has several worlds: a rank alone names several of them."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .._native import Communicator, Process, Snapshot
from .words import clean, ranks

#: A world in words, empty for the first one, and a rank in it.
_Place = Tuple[str, Optional[int]]


def who(process: Process) -> str:
    """``rank 3``, ``rank 3 of world 1``; without a rank its pid."""
    if process.rank is not None:
        return f"rank {process.rank}" + of_world(process)
    return f"pid {process.pid}" if process.pid is not None else "a process"


def of_world(process: Process) -> str:
    """`` of world 1``; empty for the first world, or where there is but one."""
    return f" of world {process.world}" if process.world else ""


class Members:
    """The members of a communicator's groups, by the worlds that they are in."""

    def __init__(self, communicator: Communicator, worlds: Sequence[Mapping[str, Any]]) -> None:
        self._later = [world for world in worlds if world["number"]]
        numbers = {world["key"]: world["number"] for world in worlds if world["key"] is not None}
        self._groups = (communicator.group, communicator.remote_group)
        self._elsewhere: Tuple[Dict[int, _Place], Dict[int, _Place]] = ({}, {})
        for run in communicator.elsewhere:
            number = numbers.get(run["world_key"])
            other = f"another world ({clean(run['world_key'])})"
            world = other if number is None else f"world {number}" if number else ""
            group = self._groups[run["remote"]] or []
            first = run["local_rank"]
            for local in range(max(0, first), min(len(group), first + run["count"])):
                self._elsewhere[run["remote"]][local] = (world, run["rank"] + local - first)

    def name(self, local: Optional[int], place: Optional[int]) -> str:
        """``rank 1 of world 1`` for a peer that is not of the first world, empty for others.

        Args:
            local: the peer's rank in the communicator.
            place: its place in the universe.
        """
        world, rank = self._place(place)
        if place is None and local is not None:
            world, rank = self._elsewhere[self._groups[1] is not None].get(local, ("", None))
        return f"rank {rank} of {world}" if world else ""

    def groups(self) -> str:
        """Both groups by world ranks, as lists of communicators show them."""
        told = self._group(False)
        return told if self._groups[1] is None else f"{told} | remote {self._group(True)}"

    def _group(self, remote: bool) -> str:
        group = self._groups[remote]
        runs: List[Tuple[str, List[Optional[int]]]] = []
        for local, place in enumerate(group or []):
            world, rank = self._place(place)
            if place is None:
                world, rank = self._elsewhere[remote].get(local, ("", None))
            if not runs or runs[-1][0] != world:
                runs.append((world, []))
            runs[-1][1].append(rank)
        if not runs:
            return ranks(group)
        return "; ".join((f"{world}: " if world else "") + ranks(members) for world, members in runs)

    def _place(self, place: Optional[int]) -> _Place:
        for world in self._later:
            first, size = world["first"], world["size"]
            if place is not None and first is not None and first <= place < first + (size or 0):
                return f"world {world['number']}", place - first
        return "", place


def rank_in(process: Process, snapshot: Snapshot) -> Optional[int]:
    """The rank of a process as findings have it: of several worlds through all of them."""
    return process.universe_rank if snapshot.worlds else process.rank
