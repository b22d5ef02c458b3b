"""Which ranks of a job are of the same MPI_COMM_WORLD, in which order the worlds came, and which spawned which."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Dict, List, Optional, Tuple

from .members import Start
from .model import World
from .tree import ProcessTree


@dataclass
class _Draft:
    name: Optional[str]
    #: The launcher's own number of it, from 0; None where it has none.
    number: Optional[int]
    starts: List[Start] = field(default_factory=list)
    note: Optional[str] = None

    @property
    def size(self) -> Optional[int]:
        sizes = Counter(one.identity.size for one in self.starts if one.identity.size is not None)
        return sizes.most_common(1)[0][0] if sizes else None


def grouped(tree: ProcessTree, starts: List[Start]) -> List[Tuple[World, List[Start]]]:
    """The worlds of a job in their order, each with what was started as its ranks."""
    drafts: Dict[object, _Draft] = {}
    unnamed: List[Start] = []
    for start in sorted(starts, key=lambda one: _age(tree, one)):
        world = start.identity.world
        if world is not None:
            drafts.setdefault(world, _Draft(world, _local_number(start.identity.family.name, world))).starts.append(
                start
            )
        elif start.identity.spawned and not start.group:
            unnamed.append(start)
        else:
            group = start.group
            name = None if group is None else f"process group {group}"
            drafts.setdefault(("group", group), _Draft(name, group)).starts.append(start)
    every = [*drafts.values(), *_by_time(unnamed)]
    # The launcher's numbers count within what it named alike; else those that started first come first.
    every.sort(key=lambda one: (one.number is None, one.number or 0, _age(tree, one.starts[0])))
    return _numbered(every)


def _age(tree: ProcessTree, start: Start) -> Tuple[int, int]:
    process = tree.get(start.pids[0])
    return (0, 0) if process is None else (process.started, process.pid)


def _local_number(family: str, world: str) -> Optional[int]:
    """The launcher's number of a world from its name, from 0: of ``prterun-HOST-PID@2`` (openpmix/prrte:
    src/util/name_fns.c), and of Open MPI 4's jobids, whose lower 16 bits it is (open-mpi/ompi 4.1:
    orte/util/name_fns.h, ORTE_LOCAL_JOBID)."""
    match = re.search(r"@(\d{1,9})$", world)
    if match:
        return max(0, int(match[1]) - 1)
    if family == "Open MPI" and re.fullmatch(r"\d{1,10}", world):
        return max(0, (int(world) & 0xFFFF) - 1)
    return None


def _by_time(starts: List[Start]) -> List[_Draft]:
    """Spawned processes below one proxy of hydra, which from 4.2 on serves all worlds and names none of them: each
    world was started in the order of its ranks, one after the other."""
    worlds: List[_Draft] = []
    last: Dict[int, Tuple[_Draft, int]] = {}
    for start in starts:
        own = start.identity
        before = last.get(start.parent)
        if before is not None and before[1] < own.rank and before[0].size == own.size:
            draft = before[0]
        else:
            others = [
                one for one in worlds if one.size == own.size and start.parent not in {s.parent for s in one.starts}
            ]
            taken = {s.identity.rank for s in others[-1].starts} if others else {own.rank}
            if own.rank in taken:
                draft = _Draft(
                    None, None, note="distinguished from others by the order in which its processes were started"
                )
                worlds.append(draft)
            else:
                draft = others[-1]
        draft.starts.append(start)
        last[start.parent] = (draft, own.rank)
    return worlds


def _numbered(drafts: List[_Draft]) -> List[Tuple[World, List[Start]]]:
    found: List[Tuple[World, List[Start]]] = []
    first: Optional[int] = 0
    for number, draft in enumerate(drafts):
        if draft.number is not None and draft.number != number:
            # A world before this one has ended: nobody knows how many processes it had.
            first = None
        found.append((World(number, draft.name, draft.size, first, _parent(draft, drafts), draft.note), draft.starts))
        first = None if first is None or draft.size is None else first + draft.size
    return found


def _parent(draft: _Draft, drafts: List[_Draft]) -> Optional[int]:
    """The number of the world that spawned it, from the port that Open MPI gives to spawned processes."""
    parents = {one.identity.parent for one in draft.starts if one.identity.parent is not None}
    if len(parents) == 1:
        (jobid,) = parents
        for number, other in enumerate(drafts):
            if other is draft:
                continue
            # In Open MPI 5 the number is made of the name: the lower 16 bits are the launcher's own number
            # (open-mpi/ompi 5.0: ompi/runtime/ompi_rte.c, ompi_convert_nspace_to_jobid).
            same = other.name == str(jobid) or (
                other.name is not None and "@" in other.name and other.number == (jobid & 0xFFFF) - 1
            )
            if same:
                return number
    # The first spawned group of hydra has one group before it.
    if draft.number == 1 and draft.name == "process group 1" and drafts[0].number == 0:
        return 0
    return None
