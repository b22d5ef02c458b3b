"""With whose rights a debugger reads: run as root, it has those of the target's own user where these suffice.

A debugger believes what it reads: symbols, debug information, core files. Whoever made them may only do through it what
they may do anyway. Whether a user's rights suffice is tried beforehand, by a shell that has them: the kernel asks for
``/proc/PID/mem`` what it asks for attaching (ptrace(2), PTRACE_MODE_ATTACH; also of Yama). Afterwards nothing is tried
again with more rights, or a target that lets its debugger fail would have root's.
"""

from __future__ import annotations

import os
import pwd
import select
import subprocess
import time
from dataclasses import dataclass, field
from typing import Dict, List, Optional, Sequence, Set, Tuple

from .. import _native
from ..report.words import clean
from ..system import advice, files, processes
from .invocation import Launcher, Rights

#: How long the shell may take, in seconds.
_TIMEOUT = 10.0
#: What it says is not more than this: a line for each process.
_MAX_SAID = 1 << 20

#: Says what these rights do not suffice for: ``x`` for the program, ``r FILE``, ``p PID``; at the end ``.``. Opening is
#: tried with a command that is no special one of the shell's, whose failure would end it (POSIX 2.8.1).
_TRY = """
[ -x "$1" ] || echo x
shift
while [ "$1" != -- ]; do
    [ -r "$1" ] || echo "r $1"
    shift
done
shift
for pid; do
    { true < "/proc/$pid/mem"; } 2> /dev/null || echo "p $pid"
done
echo .
"""


#: Stands for the rights that we have: nobody but root can give a debugger others.
_OURS = Rights(0, 0, ())


@dataclass
class Chosen:
    """How some targets are read."""

    debugger: Launcher
    #: Why with the rights of root though the target is another user's; None where it is not read so.
    note: Optional[str] = None


@dataclass
class Group:
    """Processes that are read with the same rights."""

    debugger: Launcher
    pids: List[int] = field(default_factory=list)
    #: As in :class:`Chosen`, by process.
    notes: Dict[int, str] = field(default_factory=dict)


def of_process(pid: int) -> Optional[Rights]:
    """The rights of a process; None where they are of several users, or it is gone."""
    fields = processes.status(pid)
    try:
        users = [int(word) for word in fields["Uid"].split()]
        groups = [int(word) for word in fields["Gid"].split()]
        others = tuple(int(word) for word in fields.get("Groups", "").split())
    except (KeyError, ValueError):
        return None
    if len(users) < 3 or len(set(users)) != 1 or not groups:
        return None
    return Rights(users[0], groups[0], others)


def of_file(path: str) -> Optional[Rights]:
    """The rights of the user to whom a file belongs; None where it is no file, or cannot be looked at."""
    try:
        about = files.about(path)
    except (OSError, ValueError):
        return None
    if not about.is_regular:
        return None
    try:
        user = pwd.getpwuid(about.owner)
        return Rights(about.owner, user.pw_gid, tuple(os.getgrouplist(user.pw_name, user.pw_gid)))
    except (KeyError, OSError):
        # A user without a name has no groups but the one that the file has.
        return Rights(about.owner, about.group, ())


def for_core(debugger: Launcher, core: str, exe: str, files: Sequence[str] = ()) -> Chosen:
    """How a core file and the program that dumped it are read. ``files``: what else the debugger is to open."""
    rights = of_file(core) if advice.is_root() else None
    if rights is None or rights.user == 0:
        return Chosen(debugger)
    missing, _ = _missing(debugger, rights, [core, exe, *files], [])
    return Chosen(debugger.with_rights(rights)) if missing is None else Chosen(debugger, _note(rights.user, missing))


def for_process(debugger: Launcher, pid: int, files: Sequence[str] = ()) -> Chosen:
    """How one process is read; ``files`` as above."""
    (group,) = for_processes(debugger, [pid], files)
    return Chosen(group.debugger, group.notes.get(pid))


def for_processes(debugger: Launcher, pids: Sequence[int], files: Sequence[str] = ()) -> List[Group]:
    """How processes are read, those of each user together; ``files`` as above."""
    root = Group(debugger)
    users: Dict[Rights, List[int]] = {}
    for pid in pids:
        rights = of_process(pid) if advice.is_root() else _OURS
        if rights is None:
            root.notes[pid] = "its rights are those of several users"
        if rights is None or rights.user == 0:
            root.pids.append(pid)
        else:
            users.setdefault(rights, []).append(pid)
    groups = [root]
    for rights, mine in users.items():
        group = Group(debugger.with_rights(rights))
        missing, refused = _missing(debugger, rights, files, mine)
        for pid in mine:
            why = missing or ("attaching is refused" if pid in refused else None)
            (group if why is None else root).pids.append(pid)
            if why is not None:
                root.notes[pid] = _note(rights.user, why)
        groups.append(group)
    return [group for group in groups if group.pids]


def _note(user: int, missing: str) -> str:
    return f"those of {processes.user_name(user)} do not suffice: {missing}"


def _missing(
    debugger: Launcher, rights: Rights, files: Sequence[str], pids: Sequence[int]
) -> Tuple[Optional[str], Set[int]]:
    """What these rights do not suffice for: anything at all, in words, and processes that cannot be attached to."""
    needed = [*debugger.files, str(_native.__file__), *files]
    said = _said(rights, [os.path.abspath(debugger.program), *needed, "--", *map(str, pids)])
    if said is None:
        return "nothing can be started with them", set()
    lines = said.splitlines()
    unreadable = next((line[2:] for line in lines if line.startswith("r ")), None)
    if "x" in lines:
        return f"{debugger.program} may not be run", set()
    if unreadable is not None:
        return f"{clean(unreadable)} may not be read", set()
    return None, {int(line[2:]) for line in lines if line.startswith("p ") and line[2:].isdecimal()}


def _said(rights: Rights, arguments: Sequence[str]) -> Optional[str]:
    """What the shell says with these rights, whole; else None. Its user may stop it, and let it say anything."""
    command = ["/bin/sh", "-c", _TRY, "sh", *arguments]
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PATH": os.defpath, "LC_ALL": "C"},
            start_new_session=True,
            **rights.of_child(),
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    said = b""
    deadline = time.monotonic() + _TIMEOUT
    with child:
        assert child.stdout is not None
        pipe = child.stdout.fileno()
        while len(said) < _MAX_SAID and select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
            piece = os.read(pipe, 1 << 16)
            if not piece:
                break
            said += piece
        child.kill()
    return os.fsdecode(said[:-2]) if said == b".\n" or said.endswith(b"\n.\n") else None
