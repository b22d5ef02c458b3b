"""What a process asks the kernel of itself (prctl(2)), where this Python can call the C library: one that was compiled
without libffi has no ctypes."""

from __future__ import annotations

import functools
from typing import Any, Optional

#: Orphans below the process become its children.
PR_SET_CHILD_SUBREAPER = 36
#: A signal to the process when the one above it ends.
PR_SET_PDEATHSIG = 1


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

        return ctypes.CDLL(None)
    except (ImportError, OSError):
        return None
