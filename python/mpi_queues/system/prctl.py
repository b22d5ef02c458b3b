"""What a process asks the kernel of itself (prctl(2)), where this Python can call the C library: one that was compiled
without libffi has no ctypes."""

from __future__ import annotations

import functools
from typing import Any, Optional

#: Orphans below the process become its children.
PR_SET_CHILD_SUBREAPER = 36
#: A signal to the process when the one above it ends.
PR_SET_PDEATHSIG = 1
#: Who may trace the process besides those above it, where the kernel asks for that (Yama, ptrace_scope 1): anybody who
#: may otherwise.
PR_SET_PTRACER, PR_SET_PTRACER_ANY = 0x59616D61, (1 << 64) - 1


def is_there() -> bool:
    """Whether it can be called. A process that asks first may fork before it calls."""
    return _library() is not None


def prctl(option: int, value: int) -> bool:
    """Whether the kernel has done it."""
    library = _library()
    return library is not None and library.prctl(option, value, 0, 0, 0) == 0


@functools.cache
def _library() -> Optional[Any]:
    try:
        import ctypes

        library = ctypes.CDLL(None)
        library.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
        return library
    except (ImportError, OSError):
        return None
