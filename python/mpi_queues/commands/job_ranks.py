"""What the commands on whole jobs share: the job that is meant, its ranks in the debugger, having more of them."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Callable, Dict, Iterable, List, Optional, Sequence, Tuple

from .._native import NativeError
from ..errors import UserError, as_user_error
from ..launchers import job as acquisition
from ..launchers import selection
from ..launchers.model import Job, RankEntry, World
from ..report.words import clean, ranks_named
from . import options as opt
from .context import Context
from .job_control import Held

RANKS = opt.Option(
    "ranks", "Only these: all, 0,3-5, or 1:0-2 (ranks 0 to 2 of the world that was spawned first).", "LIST", short="R"
)

#: What RankEntry.name gives.
_NAME = re.compile(r"rank (\d{1,10})(?: of world (\d{1,10}))?\Z")

#: What may go wrong with one of many.
FAILURES = (UserError, NativeError)


def debugged_job(context: Context) -> Job:
    """The job to which the processes of the debugger belong, that of the selected one first.

    Raises:
        UserError: where there is none.
    """
    held = context.jobs.held()
    failure: Optional[UserError] = None
    for one in sorted(held, key=lambda one: (not one.launcher, not one.selected)):
        try:
            return acquisition.of(one.pid)
        except UserError as error:
            failure = failure or error
    known = _by_names(held)
    if known is not None:
        return known
    if failure is None:
        raise UserError(
            "no job: nothing is being debugged here",
            help="type: mpi launch mpirun -n 4 ./a.out, or for a job that runs: mpi attach",
            kind="no_job",
        )
    raise UserError(f"no job is known here: {failure.args[0]}", help="type: mpi attach PID", kind="no_job")


def _by_names(held: Sequence[Held]) -> Optional[Job]:
    """What is left of a job whose launcher is gone, by the names that its ranks were given."""
    job = Job(
        0, "?", os.uname().nodename, notes=["Its launcher has ended: only the ranks under the debugger are known."]
    )
    job.ranks = [entry for entry in map(_by_name, held) if entry is not None]
    job.ranks.sort(key=lambda entry: (entry.world, entry.rank or 0))
    job.worlds = [World(number, None, None, None) for number in sorted({entry.world for entry in job.ranks})]
    return job if job.ranks else None


def _by_name(one: Held) -> Optional[RankEntry]:
    """The rank whose name it was given."""
    match = _NAME.match(one.name or "")
    if match is None:
        return None
    host = os.uname().nodename
    return RankEntry(int(match[1]), int(match[2] or 0), one.pid, host, None, one.state, True, "its name here")


def names_of(held: Iterable[Held]) -> str:
    """Processes of the debugger for people: ``ranks 0-3 and launcher mpirun``."""
    ranks: List[RankEntry] = []
    others: List[str] = []
    for one in held:
        entry = _by_name(one)
        if entry is not None:
            ranks.append(entry)
        else:
            others.append(one.name or f"pid {one.pid}")
    return " and ".join([*([named(ranks)] if ranks else []), *others])


def rank_words(context: Context) -> List[str]:
    """Lists of ranks for completion: all, and each that is here."""
    entries = [entry for entry in map(_by_name, context.jobs.held()) if entry is not None]
    return ["all", *(f"{entry.world}:{entry.rank}" if entry.world else f"{entry.rank}" for entry in entries)]


def held_ranks(context: Context) -> Dict[int, Held]:
    """The processes of the debugger by their ids."""
    return {one.pid: one for one in context.jobs.held()}


def having(entry: RankEntry, held: Dict[int, Held]) -> Optional[Held]:
    """What has a rank; also one that has ended, of which nobody but the debugger knows the process id any more."""
    if entry.pid is not None:
        return held.get(entry.pid)
    return next((one for one in held.values() if one.name == entry.name), None)


def named(entries: Iterable[RankEntry]) -> str:
    """Ranks for people: ``rank 3``, ``ranks 0-2 and 5``, ``ranks 0-3 and ranks 0 and 1 of world 1``."""
    worlds: Dict[int, List[int]] = {}
    nameless = 0
    for entry in entries:
        if entry.rank is None:
            nameless += 1
        else:
            worlds.setdefault(entry.world, []).append(entry.rank)
    parts = [
        f"{ranks_named(members)}{f' of world {world}' if world else ''}" for world, members in sorted(worlds.items())
    ]
    if nameless:
        parts.append("a process without a rank" if nameless == 1 else f"{nameless} processes without a rank")
    return " and ".join(parts)


def attach_all(context: Context, entries: Sequence[RankEntry]) -> List[Tuple[RankEntry, str]]:
    """Has each of these; those that could not be had, with the reason.

    Raises:
        UserError: after Ctrl-C, when what was attached to so far has been let go.
    """
    with context.jobs.uninterrupted():
        known = held_ranks(context)
        try:
            return _attach_each(context, entries)
        except KeyboardInterrupt:
            let_go(context, [pid for pid in held_ranks(context) if pid not in known])
            raise UserError(
                "interrupted: detached from the ranks that were attached",
                help="type: mpi attach -ranks LIST",
                kind="interrupted",
            ) from None
        finally:
            context.progress("")


def _attach_each(context: Context, entries: Sequence[RankEntry]) -> List[Tuple[RankEntry, str]]:
    failed: List[Tuple[RankEntry, str]] = []
    for at, entry in enumerate(entries):
        context.progress(f"attaching: {entry.name} ({at + 1} of {len(entries)}) …")
        if entry.pid is None or not entry.here:
            failed.append((entry, out_of_reach(entry)))
            continue
        try:
            context.jobs.attach(entry.pid, entry.executable, entry.name)
        except FAILURES as error:
            failed.append((entry, as_user_error(error).in_a_line))
        if context.jobs.interrupted():
            raise KeyboardInterrupt
    return failed


def let_go(context: Context, pids: Iterable[int]) -> List[str]:
    """Lets go of processes; what went wrong."""
    failed = []
    with context.jobs.uninterrupted():
        for pid in pids:
            try:
                context.jobs.detach(pid)
            except FAILURES as error:
                failed.append(as_user_error(error).in_a_line)
    return failed


def out_of_reach(entry: RankEntry) -> str:
    """Why a rank cannot be attached to from here."""
    if not entry.here:
        where = f" as pid {entry.pid}" if entry.pid is not None else ""
        return f"runs on {clean(entry.host or 'another host')}{where}: out of reach from here"
    return entry.problem or "its process is not known"


def tell_failures(context: Context, failed: Sequence[Tuple[RankEntry, str]]) -> None:
    """A line for each reason."""
    for text, entries in grouped(failed).items():
        context.tell(f"{named(entries)}: {text}")


def tell_left_out(context: Context, job: Job) -> None:
    """A line for each process that looks like a rank of the job, and is another user's."""
    for text in job.left_out:
        context.tell(clean(text))


def grouped(results: Iterable[Tuple[RankEntry, str]]) -> Dict[str, List[RankEntry]]:
    """Equal texts once, with whose they are, in the order in which they came."""
    found: Dict[str, List[RankEntry]] = {}
    for entry, text in results:
        found.setdefault(text, []).append(entry)
    return found


def run_on(context: Context, entries: Sequence[RankEntry], act: Callable[[int], str]) -> Dict[str, List[RankEntry]]:
    """What ``act`` gives of each process that is held; an error is the answer of that process alone."""
    results: List[Tuple[RankEntry, str]] = []
    held = held_ranks(context)
    for entry in entries:
        one = having(entry, held)
        if one is None:
            continue
        try:
            text = act(one.pid)
        except FAILURES as error:
            text = f"error: {as_user_error(error)}"
        results.append((entry, text.rstrip("\n")))
    return grouped(results)


def write_grouped(context: Context, found: Dict[str, List[RankEntry]]) -> None:
    """Texts under the ranks that they are of."""
    for text, entries in found.items():
        context.write(f"{named(entries)}:\n")
        context.write("".join(f"  {line}\n" for line in text.split("\n")) if text else "  (nothing was printed)\n")


def chosen(text: Optional[str], job: Job, command: str) -> List[RankEntry]:
    """The ranks that a list names, all without one.

    Raises:
        UserError: as ``acquisition.selection.parse``, with the command.
    """
    if text is None:
        return list(job.ranks)
    try:
        return selection.parse(text, job)
    except UserError as error:
        raise UserError(f"{command}: {error.args[0]}", help=error.help, kind=error.kind) from None


def as_held(job: Job, held: Dict[int, Held]) -> Job:
    """The job with the states that its processes have in the debugger, and without the news that this one traces
    them."""

    def told(entry: RankEntry) -> RankEntry:
        one = having(entry, held)
        if one is None:
            return entry
        return replace(entry, state=one.state, tracer=None)

    return replace(job, ranks=[told(entry) for entry in job.ranks])
