"""Finding the launcher of a job: by its process id or that of anything of the job, by name, or the only one."""

from __future__ import annotations

import os
from typing import List, Optional, Sequence

from ..errors import UserError
from ..system import advice, files, processes
from . import environment, owners, tables
from .programs import described, is_daemon, is_launcher, names_of
from .tree import ProcessTree

#: Options of daemons whose value is the launcher's own: pmodels/mpich src/pm/hydra (--control-port HOST:PORT), Intel's
#: (--upstream-port), open-mpi/ompi orte/mca/plm/base (ess_base_jobid), openpmix/prrte (ess_base_nspace).
_TIES = ("--control-port", "--upstream-port", "ess_base_jobid", "ess_base_nspace")
#: Launchers that are named in one message.
_MAX_NAMED = 20
#: Launchers below one that are looked at for ranks: a script and what it starts are two or three.
_MAX_NESTED = 64


def identity(tree: ProcessTree, pid: int, launcher: Optional[int] = None) -> Optional[environment.Identity]:
    """The rank that the process was started as; None where it is none, or where it cannot be read."""
    found = tree.environment(pid)
    if not found or is_daemon(tree, pid):
        return None
    inherited = None if launcher is None else tree.environment(launcher)
    process = tree.get(pid)
    if process is not None and is_daemon(tree, process.parent):
        # What a daemon starts is a rank, even one that looks like the rank in which the launcher itself was started.
        return environment.identity(found, inherited) or environment.identity(found)
    return environment.identity(found, inherited)


def contradiction(tree: ProcessTree, pid: int, launcher: int) -> Optional[str]:
    """What is wrong with the variables of a process that has no rank, None where it has none of its own."""
    found, inherited = tree.environment(pid) or {}, tree.environment(launcher) or {}
    return environment.contradiction({name: value for name, value in found.items() if inherited.get(name) != value})


def below(tree: ProcessTree, launcher: int) -> List[int]:
    """What the launcher has started, parents first, without jobs that its ranks have started in turn."""
    found: List[int] = []
    waiting = list(tree.children(launcher))
    inside = {launcher: False}
    while waiting:
        pid = waiting.pop(0)
        process = tree.get(pid)
        if process is None or pid in inside:
            continue
        within = inside.get(process.parent, False)
        if within and is_launcher(tree, pid):
            continue
        inside[pid] = within or identity(tree, pid, launcher) is not None
        found.append(pid)
        waiting += tree.children(pid)
    return found


def launchers(tree: ProcessTree) -> List[int]:
    """The launchers of this machine that can be read, one for each job."""
    named = [process.pid for process in tree if not process.ended and is_launcher(tree, process.pid)]
    every = set(named)
    outer = {pid: None for pid in named if every.isdisjoint(tree.ancestors(pid))}
    found: List[int] = []
    for pid in outer:
        if tree.environment(pid) is not None:
            found += _starters(tree, pid)
    # Jobs inside ranks, and jobs of launchers that we have no name for.
    found += [
        pid for pid in named if pid not in outer and _inside_rank(tree, pid) and tree.environment(pid) is not None
    ]
    covered = {pid for one in found for pid in below(tree, one)} | set(found)
    for process in tree:
        if process.pid in covered or process.ended or identity(tree, process.pid) is None:
            continue
        parent = _unnamed_launcher(tree, process.pid)
        if parent is not None and parent not in covered:
            found.append(parent)
            covered |= {parent, *below(tree, parent)}
    return list(dict.fromkeys(found))


def _inside_rank(tree: ProcessTree, pid: int) -> bool:
    """Whether a rank has started this launcher, and so another job."""
    above = tree.ancestors(pid)
    top = next((one for one in above if is_launcher(tree, one)), None)
    return top is not None and any(identity(tree, one, top) for one in above[: above.index(top)])


def _starters(tree: ProcessTree, pid: int) -> List[int]:
    """The launchers that do the work where one is a script around others: those that have ranks, or the lowest."""
    nested = [one for one in below(tree, pid) if is_launcher(tree, one)][:_MAX_NESTED]
    inner = [one for one in nested if not any(identity(tree, up, pid) for up in _between(tree, one, pid))]
    with_ranks = [one for one in inner if any(identity(tree, child, one) for child in below(tree, one))]
    lowest = [one for one in with_ranks if not any(one in tree.ancestors(other) for other in with_ranks)]
    if lowest:
        return lowest
    return inner[-1:] if inner and tree.script(pid) is not None else [pid]


def _between(tree: ProcessTree, pid: int, top: int) -> List[int]:
    above = tree.ancestors(pid)
    return above[: above.index(top)] if top in above else above


def _unnamed_launcher(tree: ProcessTree, pid: int) -> Optional[int]:
    """The first process above a rank that is none itself, and is the same user's; not where that is the machine's
    first, which adopts all. What of root's has started a rank of somebody is no launcher: cron has for all users."""
    if tree.environment(pid) is None:
        return None
    for parent in tree.ancestors(pid):
        if parent <= 1 or tree.environment(parent) is None:
            return None
        if identity(tree, parent) is None and not is_daemon(tree, parent):
            return parent if owners.have_same_user(tree, pid, parent) else None
    return None


def find(tree: ProcessTree, spec: Optional[str]) -> int:
    """The process id of the launcher that is meant.

    ``spec`` is a process id as text, a launcher's name or path, or None for the only one of this machine.

    Raises:
        UserError: where there is none, or more than one, with what to type.
    """
    if spec is not None and spec.isascii() and spec.isdecimal():
        return of(tree, int(spec) if len(spec) <= 10 else 0)
    found = launchers(tree)
    if spec is None:
        if not found:
            raise UserError(
                "no MPI launcher is running here, or you may not read it",
                help=advice.joined(f"name processes one by one: {advice.of_process()}", advice.see_all()),
                kind="no_job",
            )
        return _only(tree, found, "launchers are running")
    matching = [pid for pid in found if _is_called(tree, pid, spec)]
    if not matching:
        # A script around a launcher has the name that was typed.
        scripts = [process.pid for process in tree if not process.ended and _is_called(tree, process.pid, spec)]
        matching = [pid for pid in found if any(one in tree.ancestors(pid) for one in scripts)]
    if not matching:
        there = "".join(f"\n  {described(tree, pid)}" for pid in found[:_MAX_NAMED])
        raise UserError(
            f"{environment.shortened(spec)}: no launcher of that name is running here"
            + (f"; there is:{there}" if there else ""),
            help=f"type: {_with_job(found[0])}" if found else advice.see_all(),
            kind="no_job",
        )
    return _only(tree, matching, f"launchers called {environment.shortened(spec)} are running")


def _only(tree: ProcessTree, found: Sequence[int], what: str) -> int:
    if len(found) == 1:
        return found[0]
    # Whoever asks sees their own first: anybody can start many that are called so.
    me = os.geteuid()
    found = sorted(found, key=lambda pid: tree.uid(pid) != me)
    lines = "".join(f"\n  {described(tree, pid)}{_whose(tree, pid, found)}" for pid in found[:_MAX_NAMED])
    more = f"\n  and {len(found) - _MAX_NAMED} more" if len(found) > _MAX_NAMED else ""
    raise UserError(
        f"{len(found)} {what}:{lines}{more}",
        help=f"name one by its pid, such as: {advice.of_job(found[0]) or found[0]}",
        kind="several_jobs",
    )


def _with_job(launcher: int) -> str:
    """What to type to have the job of a launcher."""
    return advice.of_job(launcher) or f"mpi-queues ranks {launcher}"


def _whose(tree: ProcessTree, pid: int, among: Sequence[int]) -> str:
    """Whose process it is, where not all are the same user's."""
    users = {tree.uid(one) for one in among}
    owner = tree.uid(pid)
    return f" ({processes.user_name(owner)})" if len(users) > 1 and owner is not None else ""


def _is_called(tree: ProcessTree, pid: int, spec: str) -> bool:
    if os.sep in spec:
        real = files.real_path(spec)
        command = tree.command(pid)
        shown = [tree.script(pid), tree.executable(pid), command[0] if command else None]
        return any(one and (one == spec or files.real_path(one) == real) for one in shown)
    return any(name == spec or name.startswith(f"{spec}.") for name in names_of(tree, pid))


def of(tree: ProcessTree, pid: int) -> int:
    """The launcher of the job to which a process belongs: itself, one above it, or one that it has started.

    Raises:
        UserError: where there is none, or more than one below.
    """
    process = tree.get(pid)
    if process is None:
        leader = processes.status(pid).get("Tgid", "") if 0 < pid < 1 << 31 else ""
        if leader.isdecimal() and int(leader) != pid and tree.get(int(leader)) is not None:
            return of(tree, int(leader))
        raise UserError(
            f"pid {pid}: no such process",
            help="to see the jobs of this machine, type: mpi-queues ranks",
            kind="no_process",
        )
    if process.ended:
        raise UserError(
            f"pid {pid} ({process.name}): it has ended",
            help="to see the jobs of this machine, type: mpi-queues ranks",
            kind="no_process",
        )
    if tree.environment(pid) is None:
        raise _not_readable(tree, pid)
    if is_launcher(tree, pid):
        return _only(tree, _starters(tree, pid), f"launchers are running below pid {pid}")
    found = launchers(tree)
    above = [one for one in tree.ancestors(pid) if one in found]
    if above and any(identity(tree, one, above[0]) for one in (pid, *_between(tree, pid, above[0]))):
        return above[0]
    under = [one for one in found if pid in tree.ancestors(one)]
    if under:
        return _only(tree, under, f"launchers are running below pid {pid}")
    if pid in found:
        return pid
    if above:
        return above[0]
    for one in found:
        if not owners.have_same_user(tree, pid, one):
            continue
        if pid in (elsewhere := outside(tree, one)) or any(up in elsewhere for up in tree.ancestors(pid)):
            return one
    # A launcher that nobody knows by name, whose ranks are not told theirs by it.
    speaking = tables.owner(tree, pid)
    if speaking is not None:
        return speaking
    raise UserError(
        f"pid {pid} ({tree.short_name(pid)}): not an MPI launcher; no launcher started it, and it started none",
        help=_jobs_here(found),
        kind="no_job",
    )


def _jobs_here(found: Sequence[int]) -> str:
    if not found:
        return f"if it is an MPI process, type: {advice.of_process()}"
    return f"a launcher is running as pid {found[0]}; type: {_with_job(found[0])}"


def _not_readable(tree: ProcessTree, pid: int) -> UserError:
    owner = tree.uid(pid)
    if owner is None:
        return UserError(f"pid {pid}: the process ended just now", kind="no_process")
    who = processes.user_name(owner)
    return UserError(
        f"pid {pid} ({tree.short_name(pid)}): belongs to {who}, and the kernel does not let you look at it",
        help=advice.more_rights()
        if advice.is_root()
        else f"type: {advice.as_root(advice.again(f'mpi-queues ranks {pid}'))}",
        kind="no_permission",
    )


def outside(tree: ProcessTree, launcher: int) -> List[int]:
    """What belongs to the job without being below its launcher: daemons that came by ssh, and what they started."""
    return [pid for pid in tied(tree, launcher) if not owners.of_other(tree, pid, owners.user_of(tree, launcher))]


def tied(tree: ProcessTree, launcher: int) -> List[int]:
    """The same with what others have made look so: the options of daemons stand in ``ps`` for all to see."""
    under = below(tree, launcher)
    user = owners.user_of(tree, launcher)
    ties = {tie for pid in under if owners.is_users(tree, pid, user) for tie in _ties(tree, pid)}
    if not ties:
        return []
    known = {launcher, *under}
    found: List[int] = []
    for process in tree:
        if process.pid not in known and process.pid not in found and ties & set(_ties(tree, process.pid)):
            found += [process.pid, *below(tree, process.pid)]
    return list(dict.fromkeys(found))


def _ties(tree: ProcessTree, pid: int) -> List[str]:
    """The options in the command line of a daemon, or of the ssh that brings it, that name its launcher."""
    if not is_daemon(tree, pid):
        return []
    words = [word.strip("\"'") for argument in tree.command(pid) for word in argument.split()]
    pairs = zip(words, words[1:])
    return [f"{name.lstrip('-')} {value}" for name, value in pairs if name in _TIES]
