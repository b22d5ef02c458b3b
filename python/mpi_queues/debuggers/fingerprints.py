"""Two words for what the application has at one place: the same at two looks where it has not moved on in between.

The first is made of the caller's registers, its stack from there on and the program's own variables, the second of the
memory through which messages come to it. The MPI library's variables, which change while it merely waits, are in
neither. They are also the same by chance where a program without a counter of its own uses queues without one
(``_native.watch`` looks often).
"""

from __future__ import annotations

import contextlib
import hashlib
from typing import Dict, List, Mapping, NamedTuple, Optional, Tuple

from .. import _native
from ..system import files
from .base import DebuggedProcess, DebuggerError

#: So much of a stack, and of the program's variables, is looked at (bytes).
MAX_STACK = 64 << 10
MAX_VARIABLES = 1 << 20

#: The registers that a function must leave as they were, by the architecture's name in gdb and in lldb's triples
#: (System V ABI for AMD64, 3.2.1; AAPCS64, 6.1.1). What the others hold is lost in a call.
_KEPT: Mapping[str, Tuple[str, ...]] = {
    "x86_64": ("rbx", "rbp", "r12", "r13", "r14", "r15"),
    "aarch64": tuple(f"x{number}" for number in range(19, 30)),
}


def kept_registers(architecture: str) -> Tuple[str, ...]:
    """The registers of a frame that a debugger knows while a function that it has called runs."""
    return _KEPT.get("x86_64" if "x86-64" in architecture else architecture, ())


class Place(NamedTuple):
    """A frame of the application."""

    pc: int
    #: The stack pointer in it, and the end of the stack of the application's outermost frame.
    sp: int
    end: int
    #: None: not known.
    registers: Tuple[Optional[int], ...]


class _Digests(NamedTuple):
    """Of the program's own variables, and of the memory through which messages come."""

    variables: bytes
    messages: str


class Fingerprints:
    """Those of the threads of one process at one stop, which has the program's variables read once."""

    def __init__(self, process: DebuggedProcess) -> None:
        self._process = process
        self._digests: Optional[_Digests] = None
        self._looked = False

    def of(self, place: Place) -> Optional[str]:
        """The words for a frame, None where what they are made of cannot be read."""
        digests = self._read_digests()
        if digests is None or place.end <= place.sp:
            return None
        try:
            stack = self._process.read_memory(place.sp, min(place.end - place.sp, MAX_STACK))
        except DebuggerError:
            return None
        word = hashlib.blake2b(digests.variables, digest_size=8)
        word.update(repr(place).encode())
        word.update(stack)
        return f"{word.hexdigest()}.{digests.messages}"

    def _read_digests(self) -> Optional[_Digests]:
        if not self._looked:
            self._looked = True
            with contextlib.suppress(DebuggerError):
                self._digests = self._digest()
        return self._digests

    def _digest(self) -> Optional[_Digests]:
        headers = self._process.program_headers()
        path = self._path()
        found = _own_variables_of(path) if path is not None else None
        if headers is None or found is None:
            return None
        bias = headers[0] - found[0]
        variables, left = hashlib.blake2b(), MAX_VARIABLES
        for start, length in found[1]:
            if left <= 0:
                break
            length = min(length, left)
            variables.update(self._process.read_memory(start + bias, length))
            left -= length
        pid = self._process.pid if getattr(self._process, "local", False) else None
        messages = hashlib.blake2b(digest_size=8)
        for address, length in [] if pid is None else _native.message_memory(pid):
            with contextlib.suppress(DebuggerError):
                # What cannot be read at one look cannot be at the other.
                messages.update(self._process.read_memory(address, length))
        return _Digests(variables.digest(), messages.hexdigest())

    def _path(self) -> Optional[str]:
        """The executable's file, as this machine names it."""
        name = self._process.executable
        # Also of a program that was deleted or replaced since it was started.
        if getattr(self._process, "local", False):
            return f"/proc/{self._process.pid}/exe"
        return name


_MOST_KNOWN = 16
_known: Dict[Tuple[int, ...], Optional[Tuple[int, List[Tuple[int, int]]]]] = {}


def _own_variables_of(path: str) -> Optional[Tuple[int, List[Tuple[int, int]]]]:
    """Where a program has its own variables; all ranks of a job run the same file."""
    try:
        about = files.about(path)
    except (OSError, ValueError):
        return None
    identity = (about.device, about.inode, about.written, about.size)
    if identity not in _known:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[identity] = _native.own_variables(path)
    return _known[identity]
