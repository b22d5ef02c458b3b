"""The ranks of a job of many nodes, as ``mpi-queues ranks`` lists them."""

from __future__ import annotations

from typing import Dict, List, Optional

from .._native import Process, Snapshot
from ..launchers.model import Job, RankEntry, World
from ..system.paths import shown
from .engines import Engine
from .gathering import Progress
from .missing import MAX_RANKS, why_missing
from .reading import listed


def of_job(job: str, timeout: float, progress: Progress, engine: Optional[Engine] = None) -> Job:
    """The ranks of a job on all its nodes; nothing of it is stopped.

    Raises:
        UserError: where the job or its nodes are not to be reached.
    """
    told, silent = listed(job, timeout, progress, engine)
    processes = [process for snapshot in told for process in snapshot.processes]
    keys = list(dict.fromkeys(process.world_key for process in processes))
    worlds: Dict[int, World] = {}
    entries: List[RankEntry] = []
    for process in processes:
        number = keys.index(process.world_key)
        worlds.setdefault(number, World(number, process.world_key, process.world_size, first=None))
        entries.append(_entry(process, number))
    lost, _ = Snapshot.absent(told, MAX_RANKS)
    reason = why_missing(silent)
    entries += [
        RankEntry(rank, 0, None, None, None, "unknown", False, "the size of MPI_COMM_WORLD", reason) for rank in lost
    ]
    entries.sort(key=lambda entry: (entry.world, entry.rank is None, entry.rank or 0))
    nodes = sorted({entry.host for entry in entries if entry.host is not None})
    return Job(
        pid=0,
        launcher=job,
        host=nodes[0] if len(nodes) == 1 else f"{len(nodes)} nodes",
        worlds=sorted(worlds.values(), key=lambda world: world.number) or [World(0, None, None, first=0)],
        ranks=entries,
        problems=[f"node {node}: {reason}" for node, reason in silent.items()],
        notes=[shown(note) for snapshot in told for note in snapshot.notes],
    )


def _entry(process: Process, world: int) -> RankEntry:
    return RankEntry(
        rank=process.rank,
        world=world,
        pid=process.pid,
        host=process.host,
        executable=process.executable,
        state=process.state or "unknown",
        here=False,
        origin="its environment, read on its node",
        wrong="; ".join(process.problems) or None,
    )
