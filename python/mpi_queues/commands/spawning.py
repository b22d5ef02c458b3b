"""Processes that others spawn, as a plug-in for MPI-2 tells: where ranks stop for them (``mqs_spawn_breakpoint_name``),
which they are (``mqs_next_new_process``)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

from ..debuggers.sessions import ProcessSession
from ..errors import UserError, as_user_error
from ..launchers import hosts, owners
from ..launchers.model import Job, RankEntry, World
from ..launchers.tree import ProcessTree
from ..report.words import clean
from ..request import Request
from . import universe
from .base import prepare
from .context import Context
from .job_control import Held
from .job_ranks import FAILURES, grouped, held_ranks, named, tell_failures
from .plugins import requested_plugin

#: For the help of the commands that stop there.
HELP = (
    "Spawned processes: with '{set} source plugin' a rank stops where its plug-in says that it has spawned some. "
    "Otherwise launchers that report them stop, and 'mpi ranks' shows them. To attach to the new ones, type: mpi "
    "attach. That also asks plug-ins again that knew nothing before MPI_Init."
)
#: Processes that are named in one sentence, and that are listed.
_NAMED, _LISTED = 8, 4096

#: Launchers hold their ranks in MPI_Init or before.
_LATER = "; once MPI is initialised, type: mpi attach"


def plugin_in_use(context: Context) -> Tuple[bool, Optional[str]]:
    """Whether a plug-in is to read, and the one that was asked for by name.

    Raises:
        UserError: where that is not there.
    """
    source, plugin = requested_plugin(str(context.setting("source")), context.loaded_plugin)
    # Without a word from the user none is loaded: it is foreign code.
    return source == "plugin" or plugin is not None, plugin


def watch(context: Context, here: Sequence[RankEntry]) -> None:
    """Ranks are to stop in the function that their plug-in names, and to tell there whom they have spawned. Where no
    plug-in is in use, nothing is done."""
    ranks = {entry.pid: entry for entry in here}
    stopping: List[Tuple[RankEntry, str]] = []
    failed: List[Tuple[RankEntry, str]] = []
    for process, told in _asked(context, ranks):
        assert process.pid is not None
        entry = ranks[process.pid]
        function = told.get("spawn_breakpoint")
        try:
            if told["problem"]:
                failed.append((entry, f"it will not stop where it spawns processes: {told['problem']}{_LATER}"))
            elif function and context.jobs.watch_spawning(process.pid, function, partial(_stopped, context, entry)):
                stopping.append((entry, function))
        except FAILURES as error:
            failed.append((entry, f"it will not stop in {function}: {as_user_error(error)}"))
    tell_failures(context, failed)
    for function, entries in grouped(stopping).items():
        context.tell(f"When processes are spawned, {named(entries)} will stop in {function} (named by the plug-in).")


def _asked(context: Context, pids: Iterable[Optional[int]]) -> List[Tuple[ProcessSession, Dict[str, Any]]]:
    """What the plug-in in use tells of these processes; what went wrong stands under ``problem``."""
    chosen = set(pids)
    try:
        wanted, plugin = plugin_in_use(context)
        processes = [one for one in context.processes() if one.pid is not None and one.pid in chosen] if wanted else []
        prepare(context, processes)
    except UserError as error:
        context.tell(str(error))
        return []
    universe.place(context, processes)
    found: List[Tuple[ProcessSession, Dict[str, Any]]] = []
    for process in processes:
        try:
            request = Request(plugin=plugin, timeout=float(context.setting("timeout")))
            told = process.asked(request.plugin_info)
            told["problem"] = told.get("spawned_not_known") or told.get("reason")
        except FAILURES as error:
            told = {"problem": as_user_error(error).in_a_line}
        found.append((process, told))
    return found


def _stopped(context: Context, entry: RankEntry) -> None:
    """A rank stands where it has spawned processes."""
    held = held_ranks(context)
    told = [told for _, told in _asked(context, [entry.pid])]
    problem = next((one["problem"] for one in told if one["problem"]), None)
    new = [one for some in told for one in some.get("spawned") or () if one["pid"] not in held]
    if problem is not None:
        which = f"; the plug-in does not say which: {problem}"
    elif not new:
        which = "; the plug-in names none that are new"
    else:
        more = f" and {len(new) - _NAMED} more" if len(new) > _NAMED else ""
        which = f": {', '.join(map(_process, new[:_NAMED]))}{more}"
    how = "\nTo attach to the new ones, type: mpi attach" if new or problem is not None else ""
    context.tell(f"{entry.name} has spawned processes{which}.{how}")


def _process(told: Dict[str, Any]) -> str:
    image = f" ({clean(told['executable'])})" if told["executable"] else ""
    host = f" on {clean(told['host'])}" if told["host"] else ""
    return f"pid {told['pid']}{image}{host}"


def with_told(context: Context, job: Job, held: Dict[int, Held]) -> Job:
    """The job with the processes that nothing but a plug-in in use tells of: each spawner's in a world of their own."""
    worlds, ranks, problems = list(job.worlds), list(job.ranks), list(job.problems)
    known = {_key(entry.host, entry.here, entry.pid) for entry in ranks}
    of = {entry.pid: entry for entry in ranks if entry.pid is not None and entry.pid in held and entry.here}
    asked = _asked(context, of)
    if not asked:
        return job
    tree = ProcessTree()
    for process, told in asked:
        assert process.pid is not None
        spawner = of[process.pid]
        if told["problem"]:
            problems.append(f"which processes {spawner.name} has spawned is not known: {told['problem']}")
        world = max((one.number for one in worlds), default=-1) + 1
        added = 0
        for one in told.get("spawned") or ():
            here = not one["host"] or hosts.is_here(one["host"])
            key = _key(one["host"], here, one["pid"])
            if key in known:
                continue
            known.add(key)
            if len(ranks) >= _LISTED:
                problems.append(f"the plug-in reports more spawned processes than are listed ({_LISTED})")
                break
            added += 1
            entry = _entry(tree, one, world, here, f"the plug-in of {spawner.name} (mqs_next_new_process)")
            ranks.append(_of_user(tree, entry, owners.user_of(tree, process.pid)))
        if added:
            worlds.append(World(world, None, None, None, spawner.world, "known only from a plug-in"))
    return replace(job, worlds=worlds, ranks=ranks, problems=problems)


def _key(host: Optional[str], here: bool, pid: Optional[int]) -> Tuple[Optional[str], Optional[int]]:
    """What names a process: this machine may have several names."""
    return (None if here else host, pid)


def _of_user(tree: ProcessTree, entry: RankEntry, user: Optional[int]) -> RankEntry:
    """What the spawner's memory names may be any process of this machine."""
    found = owners.of_other(tree, entry.pid, user) if entry.here and entry.pid is not None else None
    return entry if found is None else owners.left_out(entry, found)


def _entry(tree: ProcessTree, told: Dict[str, Any], world: int, here: bool, origin: str) -> RankEntry:
    pid = int(told["pid"])
    state = tree.state(pid) if here else "unknown"
    problem = "it has ended" if state == "ended" else None
    return RankEntry(None, world, pid, told["host"] or None, told["executable"] or None, state, here, origin, problem)
