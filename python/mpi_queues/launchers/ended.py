"""A job whose ranks have all ended: how, and what its launcher goes on for."""

from __future__ import annotations

import contextlib
import os
import signal
from typing import List, Optional, Sequence, Set

from .. import _native
from .model import Job, RankEntry
from .tree import ProcessTree

_ENDED = ("ended", "zombie")
#: Bits of a status that say which signal has ended a process (wait(2)).
_SIGNAL = 0x7F
#: So many ranks, and so many other processes, are named.
_NAMED = 4

_FILES = {1: "its standard output", 2: "its standard error"}


def told(job: Job) -> Optional[str]:
    """In a sentence; None where a rank lives, or is somewhere else."""
    if not job.ranks or not all(entry.here and entry.state in _ENDED for entry in job.ranks):
        return None
    by_signals = [text for text in map(_by_signal, job.ranks) if text is not None][:_NAMED]
    how = f" ({', '.join(by_signals)})" if by_signals else ""
    ranks = "its only rank has" if len(job.ranks) == 1 else f"all {len(job.ranks)} ranks have"
    name = f"{job.launcher} (pid {job.pid})"
    why = goes_on_for(ProcessTree(), job)
    return f"{name}: {ranks} ended{how}, and the launcher goes on" + (f": {why}" if why else "")


def goes_on_for(tree: ProcessTree, job: Job) -> Optional[str]:
    """What a launcher waits for whose ranks have ended, in words; None where nothing tells it."""
    return _waits(job.pid) or _holders(tree, job) or _children(tree, job)


def _by_signal(entry: RankEntry) -> Optional[str]:
    """How one has ended that nobody has waited for."""
    try:
        with open(f"/proc/{entry.pid}/stat", encoding="ascii", errors="replace") as file:
            status = int(file.read().rpartition(")")[2].split()[-1])
    except (OSError, ValueError, IndexError):
        return None
    number = status & _SIGNAL
    if number == 0:
        return None
    name = f"signal {number}"
    with contextlib.suppress(ValueError):
        name = signal.Signals(number).name
    return f"{entry.name} by {name}"


def _waits(pid: int) -> Optional[str]:
    """For whom the launcher waits that has to take its output."""
    name, descriptor = _native.waits_in(pid) or ("", None)
    if name not in ("write", "writev"):
        return None
    output = _FILES.get(descriptor or 0, f"file {descriptor}")
    return f"it is blocked writing to {output}, which no process reads"


def _pipes(pid: int, numbers: Sequence[int] = ()) -> Set[str]:
    """The pipes that a process has open: all, or those of its files of these numbers."""
    folder = f"/proc/{pid}/fd"
    try:
        files = [str(number) for number in numbers] or os.listdir(folder)
    except OSError:
        return set()
    found = set()
    for file in files:
        with contextlib.suppress(OSError):
            place = os.readlink(f"{folder}/{file}")
            found.update([place] if place.startswith("pipe:") else [])
    return found


def _holders(tree: ProcessTree, job: Job) -> Optional[str]:
    """Processes that still have the launcher's pipes for the output of ranks: it reads until these end."""
    own = {job.pid, *tree.descendants(job.pid)}
    pipes: Set[str] = set().union(*map(_pipes, own))
    # What it writes to is no output of a rank.
    pipes -= _pipes(job.pid, (0, 1, 2))
    held = [process.pid for process in tree if process.pid not in own and pipes & _pipes(process.pid, (1, 2))]
    if not held:
        return None
    more = f" and {len(held) - _NAMED} more" if len(held) > _NAMED else ""
    names = ", ".join(f"{tree.short_name(pid)} (pid {pid})" for pid in held[:_NAMED])
    has = "has" if len(held) == 1 else "have"
    return f"{names}{more} {has} the output of a rank open, and the launcher waits until it is closed"


def _children(tree: ProcessTree, job: Job) -> Optional[str]:
    """The processes below it that live."""
    ranks = {entry.pid for entry in job.ranks}
    found: List[str] = []
    for pid in tree.descendants(job.pid):
        process = tree.get(pid)
        if process is not None and not process.ended and pid not in ranks:
            found.append(f"{tree.short_name(pid)} (pid {pid})")
    if not found:
        return None
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return f"still running below it: {', '.join(found[:_NAMED])}{more}"
