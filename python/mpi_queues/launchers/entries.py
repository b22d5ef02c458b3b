"""The ranks of a world, from what their environment tells and what the launcher has written down; where these disagree,
both are told."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Callable, Dict, List, Optional, Sequence, Set, Tuple

from ..system import advice
from . import finding, hosts, members, owners
from .environment import Identity
from .members import Choice, Start
from .model import Job, RankEntry, World
from .owners import OfOther
from .tables import Row, Table
from .tree import ProcessTree

#: Ranks that were not found and are listed one by one; more are told in one sentence.
_MAX_MISSING = 4096


@dataclass
class Sources:
    """What is known of a job before its ranks are told."""

    tree: ProcessTree
    job: Job
    #: What is below the launcher or its daemons.
    attended: Set[int]
    #: What the launcher has started as ranks with the rights of another user.
    replaced: Sequence[Tuple[Identity, OfOther]] = ()
    #: Asked once for each host: large tables name few.
    is_here: Callable[[Optional[str]], bool] = field(default_factory=lambda: lru_cache(maxsize=None)(hosts.is_here))


def of_world(sources: Sources, world: World, starts: List[Start], table: Optional[Table]) -> List[RankEntry]:
    """Each rank of a world once, in their order; what is wrong with the whole goes to the job's problems."""
    found: Dict[int, RankEntry] = {}
    rows = dict(table.rows) if table is not None else {}
    for rank, mine in members.by_rank(starts):
        row = rows.pop(rank, None)
        found[rank] = _from_environment(sources, world, rank, mine, table, row)
    for rank, row in rows.items():
        assert table is not None
        found[rank] = _from_table(sources, world, rank, row, table)
    _leave_out(sources, world, found)
    here = world.size is not None and any(start.identity.local_size == world.size for start in starts)
    for rank in _absent(world.size or 0, found):
        text = "it has ended" if here else "it was not found on this machine: it has ended, or runs on another host"
        host = sources.job.host if here else None
        state = "ended" if here else "unknown"
        origin = f"the size of its world: {world.size}"
        found[rank] = RankEntry(rank, world.number, None, host, None, state, here, origin, text)
    if world.size is not None and len(found) < world.size:
        sources.job.problems.append(f"only {len(found)} of the {world.size} ranks of world {world.number} are listed")
    return [found[rank] for rank in sorted(found)]


def _leave_out(sources: Sources, world: World, found: Dict[int, RankEntry]) -> None:
    """Ranks that nobody of the job's user is, but a process that the launcher has started with another's rights."""
    for identity, of_other in sources.replaced:
        rank, host = identity.rank, sources.job.host
        fits = identity.world in (None, world.name) and (world.size is None or rank < world.size)
        if fits and rank not in found:
            entry = RankEntry(rank, world.number, None, host, None, "unknown", True, identity.origin)
            found[rank] = owners.left_out(entry, of_other)


def _absent(size: int, found: Dict[int, RankEntry]) -> List[int]:
    missing: List[int] = []
    for rank in range(size):
        if rank not in found:
            missing.append(rank)
            if len(missing) >= _MAX_MISSING:
                break
    return missing


def _from_environment(
    sources: Sources, world: World, rank: int, starts: List[Start], table: Optional[Table], row: Optional[Row]
) -> RankEntry:
    tree, identity = sources.tree, starts[0].identity
    choice = members.chosen(tree, starts, row.pid if row is not None else None)
    problems: List[str] = []
    origin = identity.origin
    if table is not None and row is None:
        problems.append(f"{table.origin} has no rank {rank}")
    if table is not None and row is not None:
        if row.pid is not None and any(row.pid in start.pids for start in starts):
            origin = f"{table.origin}, and {origin}"
        else:
            names = f"pid {row.pid}" if row.pid is not None else f"no process ({row.problem or 'without a reason'})"
            gone = "" if row.pid is None or not sources.is_here(row.host) or tree.get(row.pid) else ", which is gone"
            where = "" if sources.is_here(row.host) else f" on host {row.host}"
            problems.append(f"{table.origin} names {names}{where}{gone}, but its environment leads to pid {choice.pid}")
    if identity.size is not None and identity.size != world.size:
        problems.append(f"it says that its world has {identity.size} processes, but others say {world.size}")
    return _entry(sources, world, rank, choice, origin, problems, None)


def _from_table(sources: Sources, world: World, rank: int, row: Row, table: Table) -> RankEntry:
    """A rank that only the launcher's table tells: on another host, or one that has cleared its environment."""
    tree, number = sources.tree, world.number
    if row.pid is None or not sources.is_here(row.host):
        problem = row.problem or (None if row.pid is not None else "the table has no process id for it")
        return RankEntry(rank, number, row.pid, row.host, row.executable, "unknown", False, table.origin, problem)
    process = tree.get(row.pid)
    if process is None or process.ended:
        text = f"it has ended: {'its parent has not waited for it' if process else 'there is no such process'}"
        return RankEntry(rank, number, row.pid, row.host, row.executable, "ended", True, table.origin, text)
    of_other = owners.of_other(tree, row.pid, owners.user_of(tree, sources.job.pid))
    launcher = tree.get(sources.job.pid)
    younger = launcher is not None and process.started >= launcher.started
    if of_other is not None and younger:
        entry = RankEntry(rank, number, None, row.host, None, "unknown", True, table.origin)
        return owners.left_out(entry, of_other)
    own = finding.identity(tree, row.pid)
    problems = [row.problem] if row.problem else []
    if row.pid == sources.job.pid:
        # A launcher that is a rank itself (MPIR without MPIR_i_am_starter); what is below it are the others.
        return _entry(sources, world, rank, Choice(row.pid), table.origin, problems, row)
    if of_other is None and (row.pid in sources.attended or (own is not None and own.rank == rank)):
        pids = [row.pid, *(pid for pid in tree.descendants(row.pid) if pid in sources.attended)]
        return _entry(sources, world, rank, members.among(tree, pids, row.pid), table.origin, problems, row)
    if tree.environment(row.pid) is None and younger:
        problems.append(f"the kernel does not let you look at it; {advice.more_rights()}")
        return _entry(sources, world, rank, Choice(row.pid), table.origin, problems, row)
    text = f"it has ended: pid {row.pid} is another process now ({tree.short_name(row.pid)}), not of this job"
    # Nothing may be done with that process id in the name of this rank.
    return RankEntry(rank, number, None, row.host, row.executable, "ended", True, table.origin, text)


def _entry(
    sources: Sources,
    world: World,
    rank: int,
    choice: Choice,
    origin: str,
    problems: Sequence[str],
    row: Optional[Row],
) -> RankEntry:
    tree = sources.tree
    process = tree.get(choice.pid)
    without_main = "its main thread has ended, but others go on" if process is not None and process.thread else ""
    return RankEntry(
        rank,
        world.number,
        choice.pid,
        sources.job.host,
        tree.executable(choice.pid) or (row.executable if row is not None else None),
        tree.state(choice.pid),
        True,
        "; ".join(part for part in (origin, choice.note, without_main) if part),
        "; ".join([*([choice.problem] if choice.problem else []), *problems]) or None,
        tree.tracer(choice.pid),
    )
