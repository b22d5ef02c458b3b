"""Jobs of several worlds: what their processes say of themselves, with ranks in the universe of all."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from .builds import MpiBuild
from .jobs import Job, Truth
from .priority import behind_debuggers

#: World and rank in it.
Place = Tuple[int, int]


class WorldsJob(Job):
    """A job whose processes spawn others; ``sizes`` are those of its worlds, the first one's first."""

    def __init__(self, build: MpiBuild, program: str, *arguments: str, sizes: Sequence[int], **options: Any) -> None:
        self.sizes = list(sizes)
        self.worlds: Dict[Place, Truth] = {}
        room = {"OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
        super().__init__(build, program, *arguments, ranks=self.sizes[0], env=room, **options)
        behind_debuggers(self.all_pids)

    def _is_ready(self, rank: int, lines: object) -> bool:
        places = [(world, place) for world, size in enumerate(self.sizes) for place in range(size)]
        for place in places:
            name = f"truth.{place[0]}.{place[1]}.json" if place[0] else f"truth.{place[1]}.json"
            path = Path(self.directory, name)
            if place not in self.worlds and path.exists():
                self.worlds[place] = json.loads(path.read_bytes())
        return super()._is_ready(rank, lines) and len(self.worlds) == len(places)

    @property
    def all_pids(self) -> List[int]:
        """Of every process, by its place in the universe."""
        return [truth["pid"] for _, truth in sorted(self.worlds.items())]

    def in_universe(self) -> Dict[int, Truth]:
        """As :func:`in_universe`."""
        return in_universe(self.worlds, self.sizes)


def in_universe(worlds: Mapping[Place, Truth], sizes: Sequence[int]) -> Dict[int, Truth]:
    """What each process says, by pid, with the global ranks of the mqs interface: places in the universe of all
    worlds, the first of which is its beginning."""
    return {truth["pid"]: _in_universe(truth, place, sizes) for place, truth in worlds.items()}


def _in_universe(truth: Truth, place: Place, sizes: Sequence[int]) -> Truth:
    truth = copy.deepcopy(truth)
    own = sum(sizes[: place[0]])

    def index(member: Sequence[int]) -> int:
        return sum(sizes[: member[0]]) + member[1]

    peers: Dict[str, List[int]] = {}
    for comm in truth["communicators"]:
        members = [index(member) for member in comm["members"]] if "members" in comm else None
        comm["group"] = [own + rank for rank in comm["group"]] if members is None else members
        if comm["remote_group"] is not None:
            comm["remote_group"] = [index(member) for member in comm["remote_members"]]
        peers[comm["handle"]] = comm["group"] if comm["remote_group"] is None else comm["remote_group"]
    for op in truth["sends"] + truth["receives"] + truth["unexpected"]:
        for part in (op, op.get("actual")):
            if part and part["peer"] is not None:
                part["world"] = peers[op["comm"]][part["peer"]]
    return truth
