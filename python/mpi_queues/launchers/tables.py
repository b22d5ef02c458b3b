"""What launchers write down of their processes: MPIR_proctable in memory, and the file of Open MPI 5's launcher."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Dict, List, Mapping, Optional

from .. import _native
from .._native import NativeError
from ..system import files
from ..system.paths import shown
from . import owners
from .environment import number
from .tree import ProcessTree, printable

#: Files and lines of them that are larger are no process tables.
_MAX_FILE = 64 << 20
#: openpmix/prrte: src/mca/state/base/state_base_options.c; measured with Open MPI 5.0.11. The host and the path may
#: hold anything but a comma, the path that, too.
_LINE = re.compile(rb"^\(rank, host, exe, pid\) = \((\d{1,10}), ([^,\n]*), (.*), (\d{1,10})\)\r?$", re.M)


@dataclass(frozen=True)
class Row:
    """One process, as a launcher has written it down."""

    host: Optional[str]
    executable: Optional[str]
    pid: Optional[int]
    problem: Optional[str] = None


@dataclass
class Table:
    """The processes of one world by rank."""

    #: Whose table it is, for people.
    origin: str
    rows: Dict[int, Row]
    problems: List[str] = field(default_factory=list)
    #: Why there are no rows, where that is no fault: the ranks may be known otherwise.
    notes: List[str] = field(default_factory=list)


def mpir(tree: ProcessTree, launcher: int, candidates: Mapping[int, Optional[int]]) -> Table:
    """The launcher's MPIR_proctable; without rows where it has none that can be read, and then with the reason.

    ``candidates`` are processes below it with the rank that their environment tells, by which the table of a launcher
    without symbols is found.
    """
    try:
        said = _native.process_table(launcher, candidates)
    except NativeError as error:
        return Table("", {}, [f"its memory cannot be searched for MPIR_proctable: {error}"])
    name = tree.short_name(launcher)
    told = [f"{name}: {one}" for one in said["problems"]]
    if not said["entries"]:
        # The last sentence has the most to say: that a table was searched for in memory, and why none counts.
        return Table("", {}, notes=told[-1:])
    rows = {
        rank: Row(entry["host"], entry["executable"], entry["pid"], entry["problem"])
        for rank, entry in enumerate(said["entries"])
    }
    return Table(f"MPIR_proctable of {name} (pid {launcher})", rows, told)


def owner(tree: ProcessTree, pid: int) -> Optional[int]:
    """The process that has an MPIR_proctable in which this one stands, or the process itself where it has one."""
    for one in (pid, *tree.ancestors(pid)):
        if not owners.have_same_user(tree, pid, one):
            # Not the memory of root's daemons above it.
            continue
        try:
            entries = _native.process_table(one, {})["entries"]
        except NativeError:
            continue
        if entries and (one == pid or any(entry["pid"] == pid for entry in entries)):
            return one
    return None


def written(tree: ProcessTree, launcher: int) -> Optional[Table]:
    """The file into which Open MPI 5's launcher was told to write its table; None where it was not."""
    named = _named_file(tree, launcher)
    if named is None:
        return None
    path = os.path.join(tree.directory(launcher) or "/", named)
    try:
        with files.opened(path, files.reader_with(tree.status(launcher))) as file:
            content = file.read(_MAX_FILE)
    except (OSError, ValueError) as error:
        # The launcher's command line has named it, and may name anything.
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return Table("", {}, [f"the launcher's process table {shown(path)} cannot be read: {reason}"])
    rows: Dict[int, Row] = {}
    for rank, host, executable, pid in _LINE.findall(content):
        where = number(rank.decode())
        if where is not None:
            rows.setdefault(where, Row(printable(host), printable(executable), number(pid.decode()) or None))
    if not rows:
        return Table("", {}, [f"the launcher's process table {shown(path)} lists no process"])
    return Table(f"{shown(path)}, written by {tree.short_name(launcher)}", rows)


def _named_file(tree: ProcessTree, launcher: int) -> Optional[str]:
    """The value of ``output-proctable`` among the launcher's options: a file but for ``-`` and ``+``, which are its
    standard streams, as none at all is."""
    command = tree.command(launcher)
    for word, following in zip(command, [*command[1:], ""]):
        name, equals, value = word.partition("=")
        if name in ("--runtime-options", "--rtos"):
            for option in (value if equals else following).split(","):
                key, _, path = option.partition("=")
                if key == "output-proctable" and path not in ("", "-", "+"):
                    return path
        elif name == "--output-proctable" and value not in ("", "-", "+"):
            return value
    return None
