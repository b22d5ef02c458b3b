"""A job: its launcher, its worlds and the processes in them.

A *world* is what one MPI_COMM_WORLD has: the processes that one command or one MPI_Comm_spawn started. The *universe*
is all processes of the job, numbered through: the first world is its prefix, the others follow in their order, so in a
job of one world a process's place in the universe is its rank (mqs interface, "The Process naming problem").
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Dict, List, Optional, Sequence, Tuple

from .tree import Tracer

#: As ``Snapshot.merged`` takes a world: its number, name, size, first place and parent, and its processes here.
JobWorld = Tuple[int, Optional[str], Optional[int], Optional[int], Optional[int], List[int]]


@dataclass(frozen=True)
class RankEntry:
    """One process of a job."""

    #: Rank in its MPI_COMM_WORLD; None where nothing tells it.
    rank: Optional[int]
    #: Number of its world in the job, from 0.
    world: int
    #: Process id on its host.
    pid: Optional[int]
    #: As the launcher names it; of processes of this machine its own name.
    host: Optional[str]
    #: Path, where the launcher or the kernel tells it.
    executable: Optional[str]
    #: running, sleeping, waiting (for a device), stopped, frozen (by its cgroup), traced, zombie, ended, or unknown (on
    #: another host, or another user's process).
    state: str
    #: Whether it is a process of this machine that can be named by its pid.
    here: bool
    #: Who says so, such as ``MPIR_proctable of mpirun (pid 4242)`` or ``its environment: PMI_RANK``.
    origin: str
    #: What is wrong with it but for its tracer, in a sentence; None where nothing is.
    wrong: Optional[str] = None
    #: Who traces it, so that no other debugger can.
    tracer: Optional[Tracer] = None

    @property
    def problem(self) -> Optional[str]:
        """What is wrong with it, in a sentence; None where nothing is."""
        return "; ".join([*([self.wrong] if self.wrong else []), *([str(self.tracer)] if self.tracer else [])]) or None

    @property
    def name(self) -> str:
        """How people call it: ``rank 3``; with its world where that is not the first: ``rank 3 of world 1``."""
        rank = "a rank" if self.rank is None else f"rank {self.rank}"
        return f"{rank} of world {self.world}" if self.world else rank


@dataclass(frozen=True)
class World:
    """The processes of one MPI_COMM_WORLD."""

    number: int
    #: What the launcher calls it (a PMIx namespace, a process group of hydra); None where it has no name for it.
    name: Optional[str]
    #: Number of its processes, also of those that were not found; None where nothing tells it.
    size: Optional[int]
    #: Place of its rank 0 in the universe; None where the size of a world before it is not known.
    first: Optional[int]
    #: Number of the world that spawned it; None for one that a command started, or where it is not known.
    parent: Optional[int] = None
    #: What to know of it, in words.
    note: Optional[str] = None


@dataclass
class Job:
    """A launcher with all processes that it started."""

    #: Process id of the launcher; 0 of a job on many nodes, which a cluster's engine has named.
    pid: int
    #: Its short name, such as ``mpirun``, or the engine's for the job, such as ``slurm:1234``.
    launcher: str
    #: The host it runs on, or how many nodes the job has.
    host: str
    worlds: List[World] = field(default_factory=list)
    #: By world, then by rank.
    ranks: List[RankEntry] = field(default_factory=list)
    #: What to know of it, in sentences.
    notes: List[str] = field(default_factory=list)
    #: What could not be found out, in sentences.
    problems: List[str] = field(default_factory=list)
    #: Of these, which processes of other users than the launcher's were not taken for ranks.
    left_out: List[str] = field(default_factory=list)

    def universe_index(self, entry: RankEntry) -> Optional[int]:
        """The place of a process among all of the job; None where it is not known."""
        first = next((world.first for world in self.worlds if world.number == entry.world), None)
        return None if first is None or entry.rank is None else first + entry.rank

    @property
    def reachable(self) -> List[RankEntry]:
        """The processes of this machine that have not ended."""
        return [entry for entry in self.ranks if entry.here and entry.pid is not None and entry.state != "ended"]

    def for_snapshots(self) -> List[JobWorld]:
        """Its worlds, for ``Snapshot.merged``."""
        here: Dict[int, List[int]] = {}
        for entry in self.reachable:
            here.setdefault(entry.world, []).extend([entry.pid] if entry.pid is not None else [])
        return [
            (world.number, world.name, world.size, world.first, world.parent, here.get(world.number, []))
            for world in self.worlds
        ]


def numbered_through(jobs: Sequence[Job]) -> List[Job]:
    """The same jobs as parts of one universe: the worlds of the first are numbered first, then those of the others."""
    numbered: List[Job] = []
    shift = 0
    first: Optional[int] = 0
    for job in jobs:
        worlds: List[World] = []
        for world in job.worlds:
            parent = None if world.parent is None else world.parent + shift
            worlds.append(replace(world, number=world.number + shift, first=first, parent=parent))
            first = None if first is None or world.size is None else first + world.size
        ranks = [replace(entry, world=entry.world + shift) for entry in job.ranks]
        numbered.append(replace(job, worlds=worlds, ranks=ranks))
        shift += len(worlds)
    return numbered
