"""Jobs that tell of themselves by the MPI2DD interface (draft of January 2007): all their worlds, over all spawns."""

from __future__ import annotations

import socket
from dataclasses import replace
from typing import Dict, Iterator, List, Optional, Set, Tuple

from .. import _native
from ..errors import UserError
from ..launchers import hosts, owners
from ..launchers.model import Job, RankEntry, World
from ..launchers.tree import ProcessTree
from .types import InfoDict, MemberDict, Mpi2ddDict, SpawnDict, WorldDict

#: Processes above or below one that are looked at.
_MAX_RELATIVES = 64

#: Directories of one kind that are told one by one.
_MAX_TOLD = 16

#: Words for what a process is, in the order in which they are told.
_ROLES = {"I_AM_STARTER": "starter", "I_AM_METADIR": "metadirectory", "I_AM_DIR": "directory"}


def job_of(tree: ProcessTree, pid: int) -> Optional[Job]:
    """The job to which a process belongs; None where it has no ``MPI2DD_info``, or cannot be read at all.

    Where that leads to no rank, the job has none, and its problems say why.
    """
    if not 0 < pid < 1 << 31:
        return None
    host = socket.gethostname()
    try:
        told = _native.mpi2dd(pid, hosts.own())
    except _native.NativeError as error:
        # Whether another process can be read is for whoever asks it next: here only what is no good MPI2DD_info counts.
        return Job(pid, tree.short_name(pid), host, problems=[str(error)]) if error.kind == "mpi2dd" else None
    if told is None:
        return None
    launcher = _launcher(tree, pid, told)
    job = Job(launcher, tree.short_name(launcher), host, problems=list(told["problems"]), notes=_notes(told))
    every = all(directory["state"] == "here" for directory in told["directories"])
    first: Optional[int] = 0
    numbers: Dict[Optional[str], int] = {}
    for number, (world, spawn) in enumerate(_ordered(tree, told["worlds"])):
        numbers[world["id"]] = number
        size = _size(world, job) if every else None
        # Only a world before it: those that spawned one another in a circle have no parent.
        parent = None if spawn is None else numbers.get(spawn["world"])
        job.worlds.append(World(number, world["id"], size, first, parent, _how(spawn, parent)))
        job.ranks += _ranks(tree, world, number, host)
        first = None if first is None or size is None else first + size
    return job


def named(tree: ProcessTree, name: str) -> Optional[Job]:
    """The job of the process that is called so, or has this executable; None where there is none with ``MPI2DD_info``.

    Raises:
        UserError: where there are several.
    """
    called = [
        process.pid
        for process in tree
        if not process.ended and name in (tree.short_name(process.pid), process.name, tree.executable(process.pid))
    ]
    # A job's processes have often one program: those above the others are asked.
    tops = [pid for pid in called if not any(above in called for above in tree.ancestors(pid))]
    found: Dict[int, Job] = {}
    for pid in tops[:_MAX_RELATIVES]:
        job = job_of(tree, pid)
        if job is not None:
            found.setdefault(job.pid, job)
    if len(found) > 1:
        pids = ", ".join(map(str, found))
        raise UserError(
            f"{name}: {len(found)} jobs are running: pids {pids}",
            help=f"name one of them, such as: {next(iter(found))}",
            kind="several_jobs",
        )
    return next(iter(found.values()), None)


def below(tree: ProcessTree, pid: int) -> Optional[Job]:
    """The job of the first process below one, such as a script, that has ``MPI2DD_info``."""
    for one in tree.descendants(pid)[:_MAX_RELATIVES]:
        job = job_of(tree, one)
        if job is not None and job.ranks:
            return job
    return None


def _launcher(tree: ProcessTree, pid: int, told: Mpi2ddDict) -> int:
    """The starter; where it is not to be found, a metadirectory of this machine, or else the process asked."""
    here = [(one["pid"], one["info"]) for one in told["directories"] if one["state"] == "here"]
    known = {one for one, _ in here}
    for role in ("I_AM_STARTER", "I_AM_METADIR"):
        for one, info in here:
            if info is not None and role in info["mpi_flag_names"]:
                return one
        # No table has the starter, but what it started is below it, and it points to a metadirectory of the same job.
        for above, info in _above(tree, pid) if role == "I_AM_STARTER" else ():
            if role in info["mpi_flag_names"] and (info["meta_pid"] in known or above in known):
                return above
    return pid


def _above(tree: ProcessTree, pid: int) -> Iterator[Tuple[int, InfoDict]]:
    for one in tree.ancestors(pid)[:_MAX_RELATIVES]:
        if not owners.have_same_user(tree, pid, one):
            continue
        try:
            told = _native.mpi2dd(one, hosts.own())
        except _native.NativeError:
            continue
        if told is not None:
            yield one, told["info"]


def _notes(told: Mpi2ddDict) -> List[str]:
    """What its directories say of the job."""
    here = [(one["pid"], one["info"]) for one in told["directories"] if one["state"] == "here"]
    found: Dict[str, List[int]] = {}
    others: List[str] = []
    for pid, info in here:
        if info is None:
            continue
        roles = [word for flag, word in _ROLES.items() if flag in info["mpi_flag_names"]]
        if roles:
            found.setdefault(" and ".join(roles), []).append(pid)
        if info["debug_state_name"] == "ABORT":
            others.append(f"MPI2DD: pid {pid} has aborted: {info['abort_string'] or 'it gives no reason'}")
        if "IGNORE_QUEUE" in info["mpi_flag_names"]:
            others.append(f"MPI2DD: pid {pid} says that its MPI has no plug-in for message queues.")
    parts = [f"{words} pid {', '.join(map(str, pids[:_MAX_TOLD]))}{_more(pids)}" for words, pids in found.items()]
    return [*([f"MPI2DD: {'; '.join(parts)}."] if parts else []), *others[:_MAX_TOLD]]


def _more(pids: List[int]) -> str:
    return f" and {len(pids) - _MAX_TOLD} more" if len(pids) > _MAX_TOLD else ""


def _spawn(world: WorldDict) -> Optional[SpawnDict]:
    """Who spawned a world; None also where its processes do not agree on that, which is told."""
    return world["spawns"][0] if len(world["spawns"]) == 1 and not world["started"] else None


def _ordered(tree: ProcessTree, worlds: List[WorldDict]) -> List[Tuple[WorldDict, Optional[SpawnDict]]]:
    """Those that nobody spawned as far as is known, by the time of their start, then the others behind those that
    spawned them, by rank and sequence."""

    def age(world: WorldDict) -> Tuple[bool, int, str]:
        found = (tree.get(one["pid"]) for one in world["members"] if one["state"] == "here")
        started = min((process.started for process in found if process is not None), default=1 << 63)
        return (not world["started"], started, world["id"] or "")

    ids = {world["id"] for world in worlds}
    children: Dict[Optional[str], List[Tuple[WorldDict, SpawnDict]]] = {}
    order: List[Tuple[WorldDict, Optional[SpawnDict]]] = []
    for world in sorted(worlds, key=age):
        spawn = _spawn(world)
        if spawn is None or spawn["world"] is None or spawn["world"] not in ids:
            order.append((world, spawn))
        else:
            children.setdefault(spawn["world"], []).append((world, spawn))
    at = 0
    while children:
        if at == len(order):
            # What is left spawned one another in a circle.
            order += [one for name in list(children) for one in children.pop(name)]
            break
        mine = children.pop(order[at][0]["id"], [])
        mine.sort(key=lambda one: (one[1]["rank"], one[1]["sequence"]))
        order += mine
        at += 1
    return order


def _size(world: WorldDict, job: Job) -> Optional[int]:
    """How many processes a world has: nothing says it, but a table without gaps has all of them."""
    ranks: Set[int] = {one["rank"] for one in world["members"] if one["rank"] is not None}
    if not ranks or world["id"] is None:
        return None
    if max(ranks) + 1 != len(ranks):
        told = f"world {len(job.worlds)} has ranks up to {max(ranks)}, and {len(ranks)} of them are in the tables"
        job.problems.append(told)
        return None
    return len(ranks)


def _how(spawn: Optional[SpawnDict], parent: Optional[int]) -> Optional[str]:
    if spawn is None:
        return None
    by = f"world {parent}" if parent is not None else f"the world {spawn['world'] or 'that is not named'}"
    return f"rank {spawn['rank']} of {by} spawned it (sequence {spawn['sequence']})"


def _ranks(tree: ProcessTree, world: WorldDict, number: int, host: str) -> List[RankEntry]:
    members = sorted(world["members"], key=lambda one: (one["rank"] is None, one["rank"] or 0, one["pid"]))
    return [_entry(tree, one, number, host) for one in members]


def _entry(tree: ProcessTree, member: MemberDict, world: int, host: str) -> RankEntry:
    by, where = member["directory"]
    name = tree.short_name(by) if where is None else where
    origin = f"MPI2DD proctable of {name} (pid {by})"
    pid, problem = member["pid"], member["problem"]
    entry = RankEntry(member["rank"], world, pid, host, member["executable"], "ended", True, origin, problem)
    if member["state"] == "elsewhere":
        return replace(entry, host=member["host"], state="unknown", here=False)
    if member["state"] == "another":
        # Nothing may be done with that process id in the name of this rank.
        return replace(entry, pid=None, wrong=f"pid {pid}: {problem or ''}")
    if member["state"] == "ended":
        return entry
    return replace(entry, state=tree.state(pid), tracer=tree.tracer(pid))
