"""The frame that called an MPI function, as a debugger has it."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from typing import Dict, Iterator, List, NamedTuple, Optional

from ..calls import evaluator
from ..calls.constants import CONSTANT, Family
from ..calls.evaluator import Evaluated, Scope
from ..calls.source import Unknown
from .base import ArgumentDict, DebuggedProcess, DebuggerError

_MASK = (1 << 64) - 1

#: An array with more elements is read so far.
MAX_ELEMENTS = 100_000


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


class Caller(ABC):
    """The frame that called an MPI function."""

    process: DebuggedProcess
    #: Path of the source file and line of the call, None where there is no debug information.
    file: Optional[str]
    line: Optional[int]
    #: When the program or library of the frame was built (modification time of its file), None where that is not known.
    built: Optional[float]

    #: The constants of the program's MPI, by their names.
    constants: Family

    @abstractmethod
    def scope(self, *, fortran: bool) -> Scope:
        """What names mean in the frame.

        Raises:
            Unknown: where the frame is gone.
        """

    def evaluate(self, text: str, *, fortran: bool) -> Evaluated:
        """The value of an expression of the frame's language.

        Raises:
            Unknown: where it has none.
        """
        scope = self.scope(fortran=fortran)

        spelled = str.upper if fortran else str

        def constant(name: str) -> Optional[int]:
            return self.constants.value(spelled(name), fortran=fortran) if CONSTANT.match(spelled(name)) else None

        of = evaluator.of_fortran if fortran else evaluator.of_c
        return evaluator.evaluated(of(text, scope, constant), fortran=fortran)

    @abstractmethod
    def frames(self) -> Iterator[CallFrame]:
        """The frame and those that called it, outwards, as far as they are known."""

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

    def integers(self, address: int, count: int, width: int) -> List[int]:
        """Integers or handles of ``width`` bytes (4 or 8) that lie one after another.

        Raises:
            Unknown: where they cannot be read.
        """
        mark = "<" if self.process.byte_order == "little" else ">"
        return list(struct.unpack(f"{mark}{count}{'i' if width == 4 else 'q'}", self.read(address, width * count)))

    def elements(self, argument: ArgumentDict, length: str, before: List[ArgumentDict], width: int) -> None:
        """Adds the handles of an array that has as many as the argument ``length`` among those ``before`` says.

        Raises:
            Unknown: where they are not known.
        """
        count = next((one["value"] for one in before if one["name"] == length), None)
        address = argument["value"]
        if count is None or address is None:
            raise Unknown(f"its elements are not known, as {length} is not")
        if count <= 0:
            argument["values"] = []
            return
        argument["values"] = self.integers(address, min(count, MAX_ELEMENTS), width)
        if count > MAX_ELEMENTS:
            argument["unknown"] = f"of {count:,} elements the first {MAX_ELEMENTS:,} were read"


def signed(number: int) -> int:
    """As a number of 64 bits with a sign."""
    return ((number + (1 << 63)) & _MASK) - (1 << 63)
