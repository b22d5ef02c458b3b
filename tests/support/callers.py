"""Callers of MPI functions that are made up: a source and a line, and perhaps variables and frames."""

from __future__ import annotations

from typing import Dict, Iterator, List, Optional, Sequence, Tuple, Union

from mpi_queues import _native
from mpi_queues._native import Unknown
from mpi_queues.debuggers.base import ArgumentDict, FrameDict, MemoryFault, StackDict
from mpi_queues.debuggers.callers import Caller, CallFrame, Thread
from mpi_queues.debuggers.values import Scope, Shape, Typed
from mpi_queues.system import files


class MadeUpNumber(Typed):
    """An int at an address."""

    def __init__(self, value: int, place: Optional[int] = 0x1000) -> None:
        self._value = value
        self._place = place

    @property
    def shape(self) -> Shape:
        return Shape.NUMBER

    @property
    def type_name(self) -> str:
        return "int"

    def number(self) -> int:
        return self._value

    def place(self) -> Optional[int]:
        return self._place

    def size(self) -> int:
        return 4

    def width(self) -> int:
        return 4

    def member(self, name: str) -> Typed:
        raise Unknown(f"a number has no {name}")

    def element(self, index: int) -> Typed:
        raise Unknown("a number has no elements")

    def address(self) -> Typed:
        return MadeUpPointer(self._place or 0)

    def moved(self, count: int) -> Typed:
        raise Unknown("a number is nowhere")

    def bounds(self) -> List[Tuple[int, int]]:
        raise Unknown("a number has no bounds")

    def at(self, indices: Sequence[int]) -> Typed:
        raise Unknown("a number has no elements")

    def handle(self) -> Optional[int]:
        return None


class MadeUpPointer(MadeUpNumber):
    """A pointer to an int."""

    @property
    def shape(self) -> Shape:
        return Shape.POINTER


class MadeUpScope(Scope):
    """Numbers by their names."""

    def __init__(self, variables: Dict[str, int]) -> None:
        self._variables = variables

    def variable(self, name: str) -> Optional[Typed]:
        return MadeUpNumber(self._variables[name]) if name in self._variables else None

    def has_type(self, name: str) -> bool:
        return name == "int"

    def missing(self, name: str) -> str:
        return f"no variable {name}"

    def cast(self, value: Union[int, Typed], type_name: str, pointers: int) -> Union[int, Typed]:
        return value

    def size_of(self, type_name: str, pointers: int) -> int:
        return 4


class MadeUpProcess:
    """Memory, and no symbols."""

    pointer_size = 8
    byte_order = "little"

    def __init__(self, memory: Dict[int, bytes]) -> None:
        self._memory = memory

    def read_memory(self, address: int, length: int) -> bytes:
        for start, content in self._memory.items():
            if start <= address and address + length <= start + len(content):
                return content[address - start : address - start + length]
        raise MemoryFault(address, length)

    def symbol(self, name: str) -> Optional[Tuple[int, Optional[int]]]:
        return None


class MadeUpCaller(Caller):
    """A call at a line of a source, of a program that was built at a time."""

    def __init__(
        self,
        file: Optional[str],
        line: Optional[int],
        built: Optional[float],
        *,
        variables: Optional[Dict[str, int]] = None,
        memory: Optional[Dict[int, bytes]] = None,
        stack: Sequence[CallFrame] = (),
        reader: Optional[files.Reader] = None,
    ) -> None:
        self.file, self.line, self.built = file, line, built
        self.process = MadeUpProcess(memory or {})  # type: ignore[assignment]
        self.family = "mpich"
        self._variables = variables or {}
        self._stack = stack
        self._reader = reader

    def scope(self, *, fortran: bool) -> Scope:
        return MadeUpScope(self._variables)

    def frames(self) -> Iterator[CallFrame]:
        return iter(self._stack)

    def reader(self) -> Optional[files.Reader]:
        return self._reader

    def call(self, function: str) -> Tuple[List[ArgumentDict], Optional[str]]:
        """What the function was given."""
        stack: StackDict = {"thread": 1, "complete": True, "frames": [_frame(function), _frame(None)]}
        _native.add_call(stack, _OneCall(self))
        return stack["arguments"], stack["arguments_unknown"]


def _frame(function: Optional[str]) -> FrameDict:
    return {"function": function, "file": None, "line": None, "application": function is None}


class _OneCall(Thread):
    """A function of MPI, and the frame that has called it."""

    def __init__(self, caller: Caller) -> None:
        self.process = caller.process
        self._caller = caller

    def counter(self, at: int) -> int:
        raise Unknown("it has no code")

    def function_at(self, address: int) -> Optional[str]:
        return None

    def fingerprint(self, at: int, outermost: int) -> Optional[str]:
        return None

    def caller(self, at: int) -> Caller:
        return self._caller
