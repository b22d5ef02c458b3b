"""Which processes of a job are which rank: exactly one each, however many it was started through or has started.

A launcher gives each rank's environment to what it starts, which may be a script, ``strace`` or a debugger that starts
the MPI program, and the MPI program hands it on to what it starts in turn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, Iterator, List, Optional, Tuple

from ..system import advice
from . import finding, owners, programs
from .environment import Identity
from .owners import OfOther
from .tree import ProcessTree


@dataclass
class Start:
    """What a launcher started as one rank, with all below it that has the same environment."""

    identity: Identity
    #: The first is what the launcher, or its daemon, started.
    pids: List[int]
    #: The process that started it.
    parent: int
    #: Whether that is the launcher or what it started, not whoever adopts orphans.
    attended: bool
    #: ``--pgid`` of the proxy above, of hydra.
    group: Optional[int] = None


@dataclass(frozen=True)
class Choice:
    """The process that is the rank."""

    pid: int
    #: What else there is to say of where the fact comes from; may be empty.
    note: str = ""
    problem: Optional[str] = None


@dataclass
class Found:
    """All starts of a job, and what to tell of how they were found."""

    starts: List[Start] = field(default_factory=list)
    #: What is below the launcher or its daemons, and its user's.
    attended: List[int] = field(default_factory=list)
    problems: List[str] = field(default_factory=list)
    #: What is not taken, because it is another user's.
    of_others: List[OfOther] = field(default_factory=list)
    #: Of these what the launcher itself has started, by the kernel's word: as which rank.
    replaced: List[Tuple[Identity, OfOther]] = field(default_factory=list)


def starts_of(tree: ProcessTree, launcher: int) -> Found:
    """Everything that was started as a rank of the launcher's job."""
    found = Found()
    user = owners.user_of(tree, launcher)
    under = finding.below(tree, launcher)
    for pid in under + finding.tied(tree, launcher):
        one = owners.of_other(tree, pid, user)
        if one is None:
            found.attended.append(pid)
        else:
            _leave_out(tree, one, launcher, pid in under, found)
    attended = found.attended
    identities = {pid: one for pid in attended for one in [_identity(tree, pid, launcher, found)] if one is not None}
    orphans = _orphans(tree, launcher, identities, found)
    identities.update(orphans)
    starts: Dict[int, Start] = {}
    heads: Dict[int, int] = {}
    for process in tree:
        own = identities.get(process.pid)
        if own is None:
            continue
        parent = process.parent
        same = identities.get(parent)
        if (
            same is not None
            and (same.rank, same.world, same.size) == (own.rank, own.world, own.size)
            and parent in heads
        ):
            heads[process.pid] = heads[parent]
            starts[heads[parent]].pids.append(process.pid)
            continue
        heads[process.pid] = process.pid
        starts[process.pid] = Start(
            own, [process.pid], parent, process.pid not in orphans, _group(tree, process.pid, launcher)
        )
    found.starts = list(starts.values())
    return found


def _leave_out(tree: ProcessTree, one: OfOther, launcher: int, under: bool, found: Found) -> None:
    """Names a process of another user that would have been taken, or might have been: not what a rank has started with
    other rights, such as a command through sudo, nor a daemon on the way."""
    process = tree.get(one.pid)
    if process is None or process.ended or (under and programs.is_daemon(tree, one.pid)):
        return
    environment = tree.environment(one.pid)
    identity = finding.identity(tree, one.pid, launcher)
    if environment is not None and identity is None and not programs.is_daemon(tree, one.pid):
        return
    found.of_others.append(one)
    if under and identity is not None:
        found.replaced.append((identity, one))


def _identity(tree: ProcessTree, pid: int, launcher: int, found: Found) -> Optional[Identity]:
    process = tree.get(pid)
    if process is None or process.ended:
        return None
    environment = tree.environment(pid)
    if environment is None:
        if tree.get(pid) is not None and tree.uid(pid) is not None and not programs.is_daemon(tree, pid):
            found.problems.append(
                f"pid {pid} ({tree.short_name(pid)}) below the launcher cannot be read; {advice.more_rights()}"
            )
        return None
    one = finding.identity(tree, pid, launcher)
    if one is None and not programs.is_daemon(tree, pid):
        wrong = finding.contradiction(tree, pid, launcher)
        if wrong is not None:
            found.problems.append(f"pid {pid} ({tree.short_name(pid)}) is left out, because in its environment {wrong}")
    return one


def _orphans(tree: ProcessTree, launcher: int, known: Dict[int, Identity], told: Found) -> Dict[int, Identity]:
    """Processes with the name of one of the job's worlds that are not below it: what started them has ended, or came by
    another way. Only a name that no other job can have ties a process to a job."""
    worlds = {one.world for one in known.values() if one.world is not None}
    process = tree.get(launcher)
    marks = (f"-{launcher}@",)
    inner = [pid for one in finding.launchers(tree) if one != launcher for pid in finding.below(tree, one)]
    others = {*inner, *(one.pid for one in told.of_others)}
    user = owners.user_of(tree, launcher)
    found: Dict[int, Identity] = {}
    for one in tree:
        if one.pid in known or one.ended or one.pid in others or one.pid == launcher:
            continue
        own = finding.identity(tree, one.pid)
        if own is None or own.world is None:
            continue
        # prterun-HOST-PID@N and prte-HOST-PID@N (openpmix/prrte: src/util/name_fns.c): those of an older launcher of
        # the same pid have started before this one did.
        named = own.world.startswith(("prterun-", "prte-")) and any(mark in own.world for mark in marks)
        younger = process is not None and one.started >= process.started
        if younger and (own.world in worlds or named):
            left_out = owners.of_other(tree, one.pid, user)
            if left_out is None:
                found[one.pid] = own
            else:
                told.of_others.append(left_out)
    return found


def _group(tree: ProcessTree, pid: int, launcher: int) -> Optional[int]:
    """The process group of hydra to which a rank belongs, from the command line of its proxy."""
    from .environment import number

    for above in tree.ancestors(pid):
        if above == launcher:
            return None
        command = tree.command(above)
        for name, value in zip(command, command[1:]):
            if name in ("--pgid", "-pgid"):
                return number(value)
    return number((tree.environment(pid) or {}).get("HYDRA_BSTRAP_PGID", ""))


def chosen(tree: ProcessTree, starts: List[Start], known: Optional[int] = None) -> Choice:
    """The MPI process among all that were started as one rank. ``known`` is the one that the launcher's table names."""
    best = [start for start in starts if start.attended] or starts
    problem = None
    if not best[0].attended:
        process = tree.get(best[0].pids[0])
        parent = process.parent if process else 0
        problem = f"not below the launcher: its parent is pid {parent} ({tree.short_name(parent) or 'not known'})"
    choice = among(tree, [pid for start in best for pid in start.pids], known)
    return Choice(choice.pid, choice.note, problem or choice.problem)


def among(tree: ProcessTree, pids: List[int], known: Optional[int] = None) -> Choice:
    """The MPI process among a process, which stands first, and those that it has started."""
    if len(pids) == 1:
        return Choice(pids[0], "", _doubt(tree, pids[0]))
    with_mpi = [pid for pid in pids if tree.has_mpi(pid)] or [pid for pid in pids if tree.is_mpi_program(pid)]
    if not with_mpi:
        pid = known if known is not None and known in pids else pids[0]
        names = ", ".join(_named(tree, one) for one in pids[:5])
        return Choice(pid, "", f"it is not known which of its processes uses MPI, if any: {names}")
    top = [pid for pid in with_mpi if not any(above in with_mpi for above in tree.ancestors(pid))]
    note = ""
    if top[0] != pids[0]:
        note = f"started through {_named(tree, pids[0])}"
    if known is not None and known in top:
        return Choice(known, note)
    if len(top) > 1:
        names = ", ".join(_named(tree, one) for one in top[:5])
        return Choice(top[0], note, f"several processes of this rank use MPI; the first is read: {names}")
    if len(with_mpi) > 1:
        children = ", ".join(_named(tree, one) for one in with_mpi if one != top[0])
        note = ", ".join(part for part in (note, f"it has forked {_brief(children)}") if part)
    return Choice(top[0], note)


def _doubt(tree: ProcessTree, pid: int) -> Optional[str]:
    if tree.has_mpi(pid) or tree.is_mpi_program(pid):
        return None
    return "no MPI library is loaded in it: it is not an MPI program, or it is just starting"


def _named(tree: ProcessTree, pid: int) -> str:
    return f"pid {pid} ({tree.short_name(pid) or 'not known'})"


def _brief(text: str) -> str:
    return text if len(text) <= 120 else text[:119] + "…"


def by_rank(starts: List[Start]) -> Iterator[Tuple[int, List[Start]]]:
    """The starts of one world, by rank."""
    found: Dict[int, List[Start]] = {}
    for start in starts:
        found.setdefault(start.identity.rank, []).append(start)
    yield from sorted(found.items())
