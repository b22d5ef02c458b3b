"""The processes of this machine at one moment, from /proc: who started whom, with which command and environment.

Everything is read within bounds and can be anything: programs overwrite their arguments and their environment.
"""

from __future__ import annotations

import os
import pathlib
import re
from dataclasses import dataclass
from typing import IO, Dict, Iterator, List, Mapping, Optional, Set, Tuple

from .. import _native
from ..system import files, mappings, processes
from ..system.processes import ENDED, word_of

#: An environment or a command line larger than this is read up to here (Linux allows 6 MB for both together, exec.c).
_MAX_STRINGS = 6 << 20
#: Processes above one that are looked at: nobody's job is that deep, but somebody's joke may be.
_MAX_DEPTH = 256
#: Programs larger than this are not searched for MPI's names.
_MAX_PROGRAM = 1 << 30

#: Names in the tables of symbols of programs that use MPI, in C and in Fortran.
_MPI_NAMES = (b"\0MPI_Init", b"\0PMPI_Init", b"\0mpi_init_", b"\0MPI_INIT")
#: Interpreters: the program is the script that they are given.
_INTERPRETER = re.compile(r"^(?:ba|da|z|k|mk|c|tc|a)?sh(?:-static)?$|^(?:python|pypy|perl|ruby|lua|node|tclsh)[0-9.]*$")


@dataclass(frozen=True)
class Process:
    """One process, as the kernel names it."""

    pid: int
    parent: int
    #: Short name, at most 15 bytes.
    name: str
    #: The kernel's letter: of a thread by which it lives, where its main thread has ended.
    letter: str
    #: When it started, in clock ticks since the machine did.
    started: int
    #: The other thread by which it lives, where its main thread has ended: under that ``/proc`` has its memory and
    #: files.
    thread: Optional[int] = None

    @property
    def ended(self) -> bool:
        """Whether nothing of it is left but its entry."""
        return self.letter in ENDED


@dataclass(frozen=True)
class Tracer:
    """A process that traces another one: a debugger."""

    pid: int
    name: str

    def __str__(self) -> str:
        return f"traced by pid {self.pid} ({self.name})"


class ProcessTree:
    """All processes at one moment. What else is asked of one is read when it is asked for, and kept."""

    def __init__(self, root: pathlib.Path = pathlib.Path("/proc")) -> None:
        self._root = root
        self._processes: Dict[int, Process] = {}
        self._children: Dict[int, List[int]] = {}
        self._environments: Dict[int, Optional[Mapping[str, str]]] = {}
        self._commands: Dict[int, Tuple[str, ...]] = {}
        self._users: Dict[int, Optional[Tuple[int, int, int]]] = {}
        self._programs: Dict[Tuple[int, int], bool] = {}
        try:
            names = os.listdir(root)
        except OSError:
            names = []
        for name in names:
            process = self._stat(name) if name.isascii() and name.isdecimal() else None
            if process is not None:
                self._processes[process.pid] = process
        for process in sorted(self._processes.values(), key=lambda one: (one.started, one.pid)):
            self._children.setdefault(process.parent, []).append(process.pid)

    def _read(self, path: str, limit: int) -> Optional[bytes]:
        try:
            with open(self._root / path, "rb") as file:
                return file.read(limit)
        except (OSError, ValueError):
            return None

    def _place(self, pid: int) -> str:
        """Where its memory and its files are listed."""
        process = self.get(pid)
        return str(pid) if process is None or process.thread is None else f"{pid}/task/{process.thread}"

    def _stat(self, name: str) -> Optional[Process]:
        content = self._read(f"{name}/stat", 4096) or b""
        # The name in parentheses may hold anything, also a closing parenthesis.
        before, _, after = content.rpartition(b")")
        fields = after.split()
        try:
            pid, letter, thread = int(name), fields[0].decode("ascii", "replace"), None
            if letter in ENDED:
                living = _native.living(pid, self._root)
                thread, letter = living or (None, letter)
            return Process(pid, int(fields[1]), printable(before.partition(b"(")[2]), letter, int(fields[19]), thread)
        except (ValueError, IndexError):
            # It has ended in the meantime.
            return None

    def __iter__(self) -> Iterator[Process]:
        return iter(sorted(self._processes.values(), key=lambda one: (one.started, one.pid)))

    def get(self, pid: int) -> Optional[Process]:
        """The process of that id."""
        return self._processes.get(pid)

    def children(self, pid: int) -> List[int]:
        """Those whose parent it is, by the time of their start."""
        return self._children.get(pid, [])

    def descendants(self, pid: int) -> List[int]:
        """All below it, parents before children."""
        found: List[int] = []
        seen: Set[int] = {pid}
        waiting = [pid]
        while waiting:
            for child in self.children(waiting.pop(0)):
                if child not in seen:
                    seen.add(child)
                    found.append(child)
                    waiting.append(child)
        return found

    def ancestors(self, pid: int) -> List[int]:
        """Its parent, the parent of that, and so on, as far as anything of a job goes."""
        found: List[int] = []
        seen = {pid}
        process = self.get(pid)
        while process is not None and process.parent > 0 and process.parent not in seen and len(found) < _MAX_DEPTH:
            seen.add(process.parent)
            found.append(process.parent)
            process = self.get(process.parent)
        return found

    def command(self, pid: int) -> Tuple[str, ...]:
        """Its arguments as it shows them; empty where it shows none."""
        if pid not in self._commands:
            content = self._read(f"{self._place(pid)}/cmdline", _MAX_STRINGS) or b""
            # A program that shows a text of its own ends it with many zeros.
            words = content.rstrip(b"\0").split(b"\0") if content.strip(b"\0") else []
            self._commands[pid] = tuple(printable(word) for word in words)
        return self._commands[pid]

    def environment(self, pid: int) -> Optional[Mapping[str, str]]:
        """The environment that it was started with; None where it cannot be read."""
        if pid not in self._environments:
            content = self._read(f"{self._place(pid)}/environ", _MAX_STRINGS)
            found: Optional[Dict[str, str]] = None
            if content is not None:
                found = {}
                for entry in content.split(b"\0"):
                    name, equals, value = entry.partition(b"=")
                    if equals:
                        # Of a name that stands there twice, getenv finds the first.
                        found.setdefault(printable(name), printable(value))
            self._environments[pid] = found
        return self._environments[pid]

    def executable(self, pid: int) -> Optional[str]:
        """The path of its program; None where it cannot be read."""
        try:
            path = os.readlink(self._root / self._place(pid) / "exe")
        except OSError:
            return None
        return printable(os.fsencode(path.removesuffix(" (deleted)")))

    def directory(self, pid: int) -> Optional[str]:
        """Where it works; None where that cannot be read."""
        try:
            return os.readlink(self._root / self._place(pid) / "cwd")
        except OSError:
            return None

    def script(self, pid: int) -> Optional[str]:
        """The path of the script that it runs, where it is an interpreter that was given one."""
        command = self.command(pid)
        if not command or not _INTERPRETER.match(os.path.basename(command[0]).lstrip("-")):
            return None
        return command[1] if len(command) > 1 and not command[1].startswith("-") else None

    def short_name(self, pid: int) -> str:
        """How people call it: the name of its script or of its program."""
        script = self.script(pid)
        if script:
            return os.path.basename(script)
        command = self.command(pid)
        first = os.path.basename(command[0].split(" ")[0]) if command else ""
        process = self.get(pid)
        return first or (process.name if process else "")

    def state(self, pid: int) -> str:
        """In the words of ``RankEntry.state``."""
        process = self.get(pid)
        if process is None:
            return "ended"
        if self.tracer(pid) and not process.ended:
            return "traced"
        return word_of(pid, process.letter)

    def tracer(self, pid: int) -> Optional[Tracer]:
        """The process that traces it."""
        field = self.status(pid).get("TracerPid", "")
        tracer = int(field) if field.isdecimal() else 0
        return Tracer(tracer, self.short_name(tracer) or "not known") if tracer else None

    def status(self, pid: int) -> Dict[str, str]:
        """The fields of its status; none where it is gone."""
        return processes.status_fields((self._read(f"{pid}/status", 1 << 16) or b"").decode(errors="replace"))

    def uid(self, pid: int) -> Optional[int]:
        """Whose process it is; None where it is gone."""
        users = self.users(pid)
        return users[1] if users is not None else None

    def users(self, pid: int) -> Optional[Tuple[int, int, int]]:
        """Its real, effective and saved user (proc(5), ``Uid``); None where it is gone."""
        if pid not in self._users:
            found = self.status(pid).get("Uid", "").split()[:3]
            is_whole = len(found) == 3 and all(user.isdecimal() for user in found)
            self._users[pid] = (int(found[0]), int(found[1]), int(found[2])) if is_whole else None
        return self._users[pid]

    def has_mpi(self, pid: int) -> bool:
        """Whether it runs code of an MPI library. A debugger that has opened the file does not execute it."""
        return any(
            mapping.is_code and _native.is_mpi_library(_file_name(mapping.name))
            for mapping in mappings.parsed(self._read(f"{self._place(pid)}/maps", mappings.MAX_LIST) or b"")
        )

    def is_mpi_program(self, pid: int) -> bool:
        """Whether its program names MPI_Init: one that is linked statically, or has not loaded its libraries yet."""
        try:
            with files.opened(self._root / self._place(pid) / "exe") as file:
                key = (file.about.device, file.about.inode)
                if key not in self._programs:
                    self._programs[key] = False
                    if 0 < file.about.size <= _MAX_PROGRAM:
                        self._programs[key] = _has_mpi_name(file)
                return self._programs[key]
        except (OSError, ValueError):
            return False


def _file_name(path: bytes) -> str:
    return path.removesuffix(b" (deleted)").rpartition(b"/")[2].decode("ascii", "replace")


def _has_mpi_name(file: IO[bytes]) -> bool:
    """Whether one of MPI's names stands in a file. It is not mapped: one that is cut short meanwhile would end us."""
    last, left = b"", _MAX_PROGRAM
    while left > 0 and (piece := file.read(1 << 20)):
        left -= len(piece)
        content = last + piece
        if any(name in content for name in _MPI_NAMES):
            return True
        # A name may lie across two pieces.
        last = content[-16:]
    return False


def printable(content: bytes) -> str:
    """Bytes of a process as text that does nothing on a terminal."""
    text = content.decode("utf-8", "backslashreplace")
    return text if text.isprintable() else "".join(one if one.isprintable() else "?" for one in text)
