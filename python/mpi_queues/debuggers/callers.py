"""The stack of a thread, and the frame in it that called an MPI function, as a debugger has them.

What they mean is worked out by ``_native.add_call`` (``crates/calls/src/thread.rs``), which asks these.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Dict, Iterator, NamedTuple, Optional

from .._native import Unknown
from ..system import files
from .base import DebuggedProcess, DebuggerError
from .values import Scope

_MASK = (1 << 64) - 1


class CallFrame(NamedTuple):
    """A frame that has called another, of a function that was not inlined."""

    #: The file with its debug information, and its ELF build-id, where the debugger knows it.
    path: str
    build_id: Optional[str]
    pc: int
    #: Where ``.text`` of that file begins in memory.
    text: int
    #: The registers that it still has, by their names.
    registers: Dict[str, int]
    #: The canonical frame address.
    cfa: Optional[int]


class Thread(ABC):
    """The stack of a thread; its frames by their places, from the innermost, 0.

    What is not known raises ``Unknown``.
    """

    process: DebuggedProcess

    @abstractmethod
    def counter(self, at: int) -> int:
        """The program counter of a frame."""

    @abstractmethod
    def function_at(self, address: int) -> Optional[str]:
        """The name of the function that begins at an address; None where none does."""

    @abstractmethod
    def fingerprint(self, at: int, outermost: int) -> Optional[str]:
        """A word for what the application has in a frame and in those that called it, out to ``outermost``; None where
        what it is made of cannot be read."""

    @abstractmethod
    def caller(self, at: int) -> Caller:
        """A frame, as the one that called MPI."""


class Caller(ABC):
    """The frame that called an MPI function."""

    process: DebuggedProcess
    #: Path of the source file and line of the call, None where there is no debug information.
    file: Optional[str]
    line: Optional[int]
    #: When the program or library of the frame was built (modification time of its file), None where that is not known.
    built: Optional[float]

    #: Whose constants of MPI the program has, a word of ``_native.mpi_family``.
    family: str

    @abstractmethod
    def scope(self, *, fortran: bool) -> Scope:
        """What names mean in the frame.

        Raises:
            Unknown: where the frame is gone.
        """

    @abstractmethod
    def frames(self) -> Iterator[CallFrame]:
        """The frame and those that called it, outwards, as far as they are known."""

    def reader(self) -> Optional[files.Reader]:
        """For whom the sources are read that the program's debug information names."""
        owner = getattr(self.process, "owner", None)
        if owner is not None:
            return files.reader_of_user(owner)
        return files.reader_of(self.process.pid if getattr(self.process, "local", False) else None)

    def symbol(self, name: str) -> Optional[int]:
        """The address of a symbol of the program."""
        found = self.process.symbol(name)
        return None if found is None else found[0]

    def read_code(self, address: int, length: int) -> bytes:
        """Code of the process.

        Raises:
            DebuggerError: where it cannot be read.
        """
        return bytes(self.process.read_memory(address, length))

    def read(self, address: int, length: int) -> bytes:
        """Memory of the process.

        Raises:
            Unknown: where it cannot be read.
        """
        try:
            return bytes(self.process.read_memory(address & _MASK, length))
        except DebuggerError:
            raise Unknown(f"the memory at {address & _MASK:#x} cannot be read") from None
