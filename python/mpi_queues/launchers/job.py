"""A job from its launcher: its worlds, and each of its ranks."""

from __future__ import annotations

import socket
from typing import Callable, List, Optional, Tuple

from ..errors import UserError
from ..mpi2dd import directories
from ..system import advice
from . import ended, entries, finding, members, owners, programs, tables, worlds
from .members import Found, Start
from .model import Job, World
from .tables import Table
from .tree import ProcessTree

#: What a launcher has written down, found by what is below it.
_Tables = Callable[[ProcessTree, int, Found], Optional[Table]]


def find(spec: Optional[str] = None) -> Job:
    """The job that is meant: ``spec`` is the process id of its launcher (or of anything of the job) as text, the
    launcher's name or path, or None for the only job of this machine.

    Raises:
        UserError: where there is none, or more than one, with what to type.
    """
    tree = ProcessTree()
    return owners.of_one_user(tree, _found(tree, spec))


def _found(tree: ProcessTree, spec: Optional[str]) -> Job:
    if spec is not None and spec.isascii() and spec.isdecimal():
        return _of(tree, int(spec) if len(spec) <= 10 else 0)
    try:
        launcher = finding.find(tree, spec)
    except UserError as error:
        # Nothing but the job itself may tell what started it.
        told = directories.named(tree, spec) if spec is not None and error.kind == "no_job" else None
        if told is None or not told.ranks:
            raise
        return told
    return _of(tree, launcher)


def of(pid: int) -> Job:
    """The job of a launcher, or of any process that belongs to a job.

    Raises:
        UserError: where there is none.
    """
    tree = ProcessTree()
    return owners.of_one_user(tree, _of(tree, pid))


def _of(tree: ProcessTree, pid: int) -> Job:
    # What a job says of itself (MPI2DD) goes before what is found out from its launcher and its processes.
    told = directories.job_of(tree, pid)
    if told is not None and told.ranks:
        return told
    try:
        launcher = finding.of(tree, pid)
        by_launcher = directories.job_of(tree, launcher) if told is None and launcher != pid else None
        job = by_launcher if by_launcher is not None and by_launcher.ranks else job_of(tree, launcher)
    except UserError as error:
        found = directories.below(tree, pid) if told is None and error.kind == "no_job" else None
        if found is not None:
            return found
        if told is None:
            raise
        raise UserError(
            f"{programs.described(tree, pid)}: its MPI2DD_info does not lead to any rank: "
            f"{'; '.join(told.problems[:3])}",
            help=f"name its ranks one by one: {advice.of_process()}",
            kind="no_ranks",
        ) from None
    job.problems += [] if told is None else told.problems
    return job


def _table(tree: ProcessTree, launcher: int, found: Found) -> Optional[Table]:
    ranks = {pid: start.identity.rank for start in found.starts for pid in start.pids}
    candidates = {pid: ranks.get(pid) for pid in found.attended}
    first = tables.mpir(tree, launcher, candidates)
    return first if first.rows else tables.written(tree, launcher) or first


def job_of(tree: ProcessTree, launcher: int, table_of: _Tables = _table) -> Job:
    """The job of a launcher in a tree of processes.

    Raises:
        UserError: where no rank of it is known.
    """
    job = Job(launcher, tree.short_name(launcher), socket.gethostname())
    found = members.starts_of(tree, launcher)
    table = table_of(tree, launcher, found)
    job.left_out = owners.named(found.of_others)
    job.problems += [*found.problems, *(table.problems if table is not None else [])]
    job.notes += table.notes if table is not None else []
    grouped = worlds.grouped(tree, found.starts)
    rows = table.rows if table is not None else {}
    if rows and not grouped:
        # All its ranks are elsewhere, or have cleared their environment.
        grouped = [(World(0, None, len(rows), 0), [])]
    sources = entries.Sources(tree, job, set(found.attended), found.replaced)
    described = _described(grouped, table) if rows else None
    for number, (world, starts) in enumerate(grouped):
        job.worlds.append(world)
        job.ranks += entries.of_world(sources, world, starts, table if number == described else None)
    told = {entry.problem for entry in job.ranks}
    job.left_out = [one for one in job.left_out if one not in told]
    job.problems += job.left_out
    if not job.ranks:
        said = f"{programs.described(tree, launcher)}: none of its ranks was found on this machine"
        why = ended.goes_on_for(tree, job)
        if why is not None:
            said += f"; perhaps all have ended: {why}"
        raise UserError(
            "\n".join([said, *job.problems, *job.notes]),
            help="it may just be starting, or its ranks run on other hosts: run the same command there, or name the "
            f"hosts: {advice.of_job('hosts:NODESET') or 'mpi-queues diagnose --job hosts:NODESET'}",
            kind="no_ranks",
        )
    return job


def _described(grouped: List[Tuple[World, List[Start]]], table: Optional[Table]) -> int:
    """The world that the table is of: launchers write down the one that they started, not those that it spawned."""
    rows = table.rows if table is not None else {}

    def common(number: int) -> int:
        pids = {(start.identity.rank, pid) for start in grouped[number][1] for pid in start.pids}
        return sum((rank, row.pid) in pids for rank, row in rows.items())

    return max(range(len(grouped)), key=lambda number: (common(number), -number))
