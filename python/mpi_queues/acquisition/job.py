"""A job from its launcher: its worlds, and each of its ranks."""

from __future__ import annotations

import socket
from typing import Dict, List, Optional, Sequence

from ..errors import UserError
from . import finding, members, worlds
from .members import Start
from .model import Job, RankEntry, World
from .selection import numbers
from .tree import ProcessTree

#: Ranks that were not found and are listed one by one; more are told in one sentence.
_MAX_MISSING = 4096


def find(spec: Optional[str] = None) -> Job:
    """The job that is meant: ``spec`` is the process id of its launcher (or of anything of the job) as text, the
    launcher's name or path, or None for the only job of this machine.

    Raises:
        UserError: where there is none, or more than one, with what to type.
    """
    tree = ProcessTree()
    return _job(tree, finding.find(tree, spec))


def of(pid: int) -> Job:
    """The job of a launcher, or of any process that belongs to a job.

    Raises:
        UserError: where there is none.
    """
    tree = ProcessTree()
    return _job(tree, finding.of(tree, pid))


def _job(tree: ProcessTree, launcher: int) -> Job:
    host = socket.gethostname()
    job = Job(launcher, tree.short_name(launcher), host)
    found = members.starts_of(tree, launcher)
    job.problems += found.problems
    for world, starts in worlds.grouped(tree, found.starts):
        job.worlds.append(world)
        job.ranks += _ranks(tree, world, starts, job)
    if not job.ranks:
        raise UserError(
            f"{finding.described(tree, launcher)}: no rank of it was found on this machine",
            help="it may just be starting, or its ranks run on other hosts: type the same there",
            kind="no_ranks",
        )
    return job


def _ranks(tree: ProcessTree, world: World, starts: List[Start], job: Job) -> List[RankEntry]:
    found: Dict[int, RankEntry] = {}
    for rank, mine in members.by_rank(starts):
        found[rank] = _entry(tree, world, rank, mine, job)
    here = _is_all_here(world, starts)
    missing = [] if world.size is None else _absent(world.size, found)
    for rank in missing:
        text = "it has ended" if here else "it was not found on this machine: it has ended, or runs on another host"
        found[rank] = RankEntry(
            rank,
            world.number,
            None,
            job.host if here else None,
            None,
            "ended" if here else "unknown",
            here,
            f"the size of its world: {world.size}",
            text,
        )
    if world.size is not None and len(found) < world.size:
        job.problems.append(f"of the {world.size} ranks of world {world.number} only {len(found)} are listed")
    return [found[rank] for rank in sorted(found)]


def _absent(size: int, found: Dict[int, RankEntry]) -> List[int]:
    missing: List[int] = []
    for rank in range(size):
        if rank not in found:
            missing.append(rank)
            if len(missing) >= _MAX_MISSING:
                break
    return missing


def _is_all_here(world: World, starts: Sequence[Start]) -> bool:
    """Whether the launcher says that all ranks of the world were started on this host."""
    return world.size is not None and any(start.identity.local_size == world.size for start in starts)


def _entry(tree: ProcessTree, world: World, rank: int, starts: List[Start], job: Job) -> RankEntry:
    choice = members.chosen(tree, starts)
    identity = starts[0].identity
    origin = identity.origin + (f"; {choice.note}" if choice.note else "")
    problems = [choice.problem] if choice.problem else []
    if identity.size is not None and identity.size != world.size:
        problems.append(f"it says that its world has {identity.size} processes, and others say {world.size}")
    tracer = tree.tracer(choice.pid)
    if tracer:
        problems.append(f"traced by pid {tracer} ({tree.short_name(tracer) or 'not known'})")
    return RankEntry(
        rank,
        world.number,
        choice.pid,
        job.host,
        tree.executable(choice.pid),
        tree.state(choice.pid),
        True,
        origin,
        "; ".join(problems) or None,
    )


__all__ = ["find", "numbers", "of"]
