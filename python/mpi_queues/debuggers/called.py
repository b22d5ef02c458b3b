"""What a frame has called, by the instruction before its return address (``crates/calls/src/call_target.rs``).

In a stripped library an MPI function may have no frame of its own: the compiler ended it with a jump to another
function (Open MPI's MPI_Finalize, MPI_Waitall of MPICH 5.0), or moved its slow part to where no symbol is (MPI_Waitany
of Debian's MPICH 4.0.2). The caller's call instruction still says which function it called.
"""

from __future__ import annotations

from typing import Callable, List, Optional, Tuple

from .. import _native
from .base import DebuggedProcess, FrameDict

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
        called = _native.call_target(process, counter(at))
        name = name_of(called) if called is not None else None
        if name is not None and _native.mpi_frame([name]) is not None:
            return at, name
    return None


def frame(function: str) -> FrameDict:
    """The frame that the function would have."""
    return {"function": function, "file": None, "line": None, "application": False}
