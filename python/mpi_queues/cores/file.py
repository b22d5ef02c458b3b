"""A Linux core file: which memory of the process it holds, and what it tells of the process.

Debuggers answer zeros for memory that a core file names but does not hold (gdb 13, `core_target::xfer_partial` in
gdb/corelow.c), so that a list left out of the dump would look empty. Memory of a core is therefore read here, from the
file's own segments; what they do not hold is an error that names the part that is missing.
"""

from __future__ import annotations

import os
import struct
import weakref
from bisect import bisect_right
from typing import Dict, List, Optional, Tuple

from ..debuggers.base import DebuggerError, NotInCore, RegionDict
from ..errors import UserError
from ..system import files
from ..system.paths import shown
from .format import (
    AT_ENTRY,
    AT_EXECFN,
    AT_PHDR,
    AT_PHNUM,
    EXECUTABLE,
    MAX_NOTES,
    PT_LOAD,
    PT_NOTE,
    READABLE,
    WRITABLE,
    Mapping,
    Notes,
    Segment,
    program_headers,
)

#: Arguments and environment larger than this are not searched.
_MAX_ENVIRONMENT = 4 << 20

#: The auxiliary vector of every process is longer than this.
_SHORTEST_VECTOR = 64

#: What to do about truncated ones.
ROOM = "see that there is space on the disk, and that ulimit -c says unlimited"

_FULL_DUMP = (
    "to have everything in the next one, type: gcore PID, or before the crash: echo 0x7f > /proc/PID/coredump_filter"
)


class CoreFile:
    """One core file, held open.

    Attributes:
        path: as it was named.
        owner: user id of the file's owner.
        user: user id of the process, as the file tells; None where it does not.
        pid: process id on its host; None where the file does not tell.
        auxiliary: the auxiliary vector (AT_… numbers to values); empty where the file has none.
        mappings: the files that were mapped, by address.
        truncated: how many bytes are missing at its end; 0 for a whole one.
    """

    def __init__(self, path: str) -> None:
        """Opens it and reads its notes.

        Raises:
            UserError: where it cannot be read, or is no core file of a program of this kind of machine.
        """
        self.path = path
        if files.irregular(path):
            raise UserError(f"{shown(path)}: not a core file, but {files.irregular(path)}", kind="not_core")
        try:
            # Unbuffered: pieces are read by offset.
            self._file = files.opened(path, buffering=0)
            weakref.finalize(self, self._file.close)
            about = os.fstat(self._file.fileno())
            self._size, self.owner = about.st_size, about.st_uid
            headers = program_headers(path, self._bytes)
            notes = b""
            for kind, _, offset, _, _, held, _, _ in headers:
                if kind == PT_NOTE:
                    notes += self._bytes(offset, min(held, MAX_NOTES - len(notes)))
        except (OSError, OverflowError) as error:
            raise UserError(
                f"{shown(path)}: the core file cannot be read: {getattr(error, 'strerror', None) or error}",
                help="to see where the system puts them, type: cat /proc/sys/kernel/core_pattern",
                kind="no_core",
            ) from None
        self._segments = sorted(
            Segment(start, start + size, offset, min(held, size), flags)
            for kind, flags, offset, start, _, held, size, _ in headers
            if kind == PT_LOAD
        )
        ends = [offset + held for kind, _, offset, _, _, held, _, _ in headers if kind in (PT_LOAD, PT_NOTE)]
        self.truncated = max(0, max(ends, default=0) - self._size)
        self._starts = [segment.start for segment in self._segments]
        self._notes = Notes(notes)
        self.user = self._notes.user
        self.pid, self.auxiliary, self.mappings = self._notes.pid, self._notes.auxiliary, self._notes.mappings
        self._mapped = [mapping.start for mapping in self.mappings]
        self._heap = self._first_behind_program()

    def _bytes(self, offset: int, length: int) -> bytes:
        """At most ``length`` bytes of the file, fewer where it ends."""
        if offset >= self._size:
            return b""
        pieces = []
        while length > 0 and (piece := os.pread(self._file.fileno(), min(length, 1 << 28), offset)):
            pieces.append(piece)
            offset += len(piece)
            length -= len(piece)
        return b"".join(pieces)

    def read(self, address: int, length: int) -> bytes:
        """Exactly ``length`` bytes of the process's memory.

        Raises:
            NotInCore: where the file does not hold all of them.
        """
        pieces = []
        at, end = address, address + length
        while at < end:
            segment = self._segment(at)
            available = 0 if segment is None else segment.start + segment.held - at
            piece = b""
            if segment is not None and available > 0:
                try:
                    piece = self._bytes(segment.offset + at - segment.start, min(available, end - at))
                except (OSError, OverflowError) as error:
                    raise DebuggerError(f"the core file {shown(self.path)} cannot be read: {error}") from None
            if not piece:
                raise NotInCore(at, end - at, self._part(at), self._remedy(segment, at))
            pieces.append(piece)
            at += len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _holds(self, address: int) -> bool:
        """Whether the byte at ``address`` is in the file."""
        segment = self._segment(address)
        if segment is None:
            return False
        into = address - segment.start
        return into < segment.held and segment.offset + into < self._size

    def call_registers(self, thread: int) -> Dict[str, int]:
        """What tells of the system call of a thread, by the kernel's number of it; nothing where that is not known."""
        return self._notes.call_registers.get(thread, {})

    @property
    def holds_stacks(self) -> bool:
        """Whether the stack of every thread is in the file, at least its innermost frame."""
        return bool(self._notes.stack_pointers) and all(map(self._holds, self._notes.stack_pointers))

    def _segment(self, address: int) -> Optional[Segment]:
        index = bisect_right(self._starts, address) - 1
        found = self._segments[index] if index >= 0 else None
        return found if found is not None and address < found.end else None

    def is_code(self, address: int) -> bool:
        """Whether the process could execute what lies at an address."""
        segment = self._segment(address)
        return segment is not None and bool(segment.flags & EXECUTABLE)

    def _remedy(self, segment: Optional[Segment], address: int) -> str:
        if self.truncated and segment is not None and address - segment.start < segment.held:
            return f"the file {shown(self.path)} is truncated: {self.truncated} bytes are missing at its end; {ROOM}"
        return _FULL_DUMP

    def _part(self, address: int) -> str:
        """What lies at an address, in words."""
        mapping = self.mapping(address)
        if mapping is not None:
            return f"memory of {shown(mapping.name)}"
        segment = self._segment(address)
        if segment is None:
            return "memory that it does not tell of"
        return {"[stack]": "the stack", "[heap]": "the heap"}.get(self._name(segment), "anonymous memory")

    def _name(self, segment: Segment) -> str:
        """As /proc/PID/maps names it."""
        mapping = self.mapping(segment.start)
        if mapping is not None:
            return mapping.name
        if segment.start <= self.auxiliary.get(AT_EXECFN, 0) < segment.end:
            return "[stack]"
        return "[heap]" if segment == self._heap else ""

    def mapping(self, address: int) -> Optional[Mapping]:
        index = bisect_right(self._mapped, address) - 1
        found = self.mappings[index] if index >= 0 else None
        return found if found is not None and address < found.end else None

    def _program(self) -> Optional[Mapping]:
        """The last mapping of the executable."""
        entry = self.mapping(self.auxiliary.get(AT_ENTRY, 0))
        return None if entry is None else max(one for one in self.mappings if one.name == entry.name)

    def _first_behind_program(self) -> Optional[Segment]:
        """The kernel puts the heap behind the executable, whose .bss adjoins it, and below all libraries."""
        program = self._program()
        if program is None:
            return None
        end = program.end
        for segment in self._segments[bisect_right(self._starts, program.start) :]:
            if self.mapping(segment.start) is not None and segment.start >= end:
                return None
            if segment.start > end:
                return segment
            end = max(end, segment.end)
        return None

    @property
    def executable(self) -> Optional[str]:
        """Path of the program that dumped it, as the kernel knew it; None where the file does not tell."""
        program = self._program()
        return None if program is None else program.name

    @property
    def program_headers(self) -> Optional[Tuple[int, int]]:
        """AT_PHDR and AT_PHNUM."""
        headers, count = self.auxiliary.get(AT_PHDR), self.auxiliary.get(AT_PHNUM)
        return (headers, count) if headers and count else None

    def environment(self) -> List[bytes]:
        """The initial environment, as ``NAME=VALUE``; empty where the file does not hold it.

        The kernel lays out, upwards: argc, argv, NULL, envp, NULL, the auxiliary vector, …, the strings of argv and
        those of envp, the name of the executable (create_elf_tables in fs/binfmt_elf.c). The vector is found by its
        contents.
        Programs change the array envp (setenv), and the order of argv (getopt), but not where their strings lie.
        """
        end = self.auxiliary.get(AT_EXECFN, 0)
        segment = self._segment(end)
        if segment is None or len(self._notes.vector) < _SHORTEST_VECTOR:
            return []
        start = max(segment.start, end - _MAX_ENVIRONMENT)
        try:
            stack = self.read(start, end - start)
        except DebuggerError:
            return []
        at = stack.rfind(self._notes.vector)
        words = [word for (word,) in struct.iter_unpack("<Q", stack[at % 8 : max(at, 0)])]
        # Below the vector are pointers and NULL, until argc.
        argc_at = next((index for index in reversed(range(len(words))) if 0 < words[index] < _MAX_ENVIRONMENT), -1)
        if argc_at < 0:
            return []
        arguments = words[argc_at + 1 : argc_at + 1 + words[argc_at]]
        last = max((pointer - start for pointer in arguments if at < pointer - start < len(stack)), default=-1)
        strings_at = stack.find(b"\0", last) + 1 if last >= 0 else 0
        return stack[strings_at:].split(b"\0") if strings_at else []

    def regions(self) -> List[RegionDict]:
        """The memory that the file holds, by address. Whether it was shared is not told: it is given as private."""
        return [
            {
                "start": segment.start,
                "end": segment.start + segment.held,
                "readable": bool(segment.flags & READABLE),
                "writable": bool(segment.flags & WRITABLE),
                "shared": False,
                "name": self._name(segment),
            }
            for segment in self._segments
            if segment.held and segment.offset + segment.held <= self._size
        ]
