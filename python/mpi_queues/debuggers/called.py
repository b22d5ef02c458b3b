"""What a frame has called, by the instruction before its return address.

In a stripped library an MPI function may have no frame of its own: the compiler ended it with a jump to another
function (Open MPI's MPI_Finalize, MPI_Waitall of MPICH 5.0), or moved its slow part to where no symbol is (MPI_Waitany
of Debian's MPICH 4.0.2). The caller's call instruction still says which function it called.
"""

from __future__ import annotations

from typing import Callable, List, Optional, Tuple, Union

from .. import _native
from .base import DebuggedProcess, DebuggerError, FrameDict

#: Longest of the instructions that are looked at, with what may stand before them.
_CALL = 6
_STUB = 16

#: So many bytes of code at an address.
ReadCode = Callable[[int, int], Union[bytes, memoryview]]

#: The name of the function that begins at an address; None where none does.
NameOf = Callable[[int], Optional[str]]


def mpi_call(
    frames: List[FrameDict], process: DebuggedProcess, counter: Callable[[int], int], name_of: NameOf
) -> Optional[Tuple[int, str]]:
    """The outermost frame of the application that has called an MPI function without a frame: its place, and that
    function.

    ``counter`` tells the program counter of the frame at a place. Only code of x86-64 is read.
    """
    for at in range(len(frames) - 1, 0, -1):
        if not frames[at].get("application") or frames[at - 1].get("application"):
            continue
        called = target(process, counter(at))
        name = name_of(called) if called is not None else None
        if name is not None and _native.mpi_frame([name]) is not None:
            return at, name
    return None


def frame(function: str) -> FrameDict:
    """The frame that the function would have."""
    return {"function": function, "file": None, "line": None, "application": False}


def target(process: DebuggedProcess, after: int, read: Optional[ReadCode] = None) -> Optional[int]:
    """Where the call before the address ``after`` led to, None where that is not known; through the stub of a linkage
    table to what stands in that. ``read`` also knows code that is in no memory; it raises ``DebuggerError``."""
    if process.pointer_size != 8 or process.byte_order != "little":
        return None
    read = read or process.read_memory
    try:
        code = bytes(read(after - _CALL, _CALL))
        if code[1] == 0xE8:  # call rel32
            return _through_stub(process, _relative(code[2:6], after), read)
        if code[:2] == b"\xff\x15":  # call *rel32(%rip), as -fno-plt has it
            return _pointer(process, _relative(code[2:6], after))
    except (DebuggerError, OverflowError, ValueError):
        pass
    return None


def _through_stub(process: DebuggedProcess, begin: int, read: ReadCode) -> int:
    """What a stub jumps to: ``[endbr64] [bnd] jmp *rel32(%rip)``; else the address itself."""
    code = bytes(read(begin, _STUB))
    at = 4 if code.startswith(b"\xf3\x0f\x1e\xfa") else 0
    at += code[at] == 0xF2
    if code[at : at + 2] != b"\xff\x25":
        return begin
    return _pointer(process, _relative(code[at + 2 : at + 6], begin + at + 6))


def _relative(distance: bytes, after: int) -> int:
    return (after + int.from_bytes(distance, "little", signed=True)) & ((1 << 64) - 1)


def _pointer(process: DebuggedProcess, address: int) -> int:
    return int.from_bytes(bytes(process.read_memory(address, 8)), "little")
