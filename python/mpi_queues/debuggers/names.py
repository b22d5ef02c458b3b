"""Names of functions as debuggers tell them."""

from __future__ import annotations

from .. import _native


def without_parameters(name: str) -> str:
    """A C++ function's qualified name without parameters and return type; other names are as they are.

    ``void grid::f<int>(int) const`` is ``grid::f<int>``, as gdb names it.
    """
    return _native.without_parameters(name)
