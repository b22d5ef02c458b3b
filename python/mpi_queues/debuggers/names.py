"""Names of functions as debuggers tell them."""

from __future__ import annotations

_ANONYMOUS = "(anonymous namespace)"
_OPERATOR = "operator"


def without_parameters(name: str) -> str:
    """A C++ function's qualified name without parameters and return type; other names are as they are.

    ``void grid::f<int>(int) const`` is ``grid::f<int>``, as gdb names it.
    """
    start, depth, at = 0, 0, 0
    while at < len(name):
        char = name[at]
        if depth == 0 and name.startswith(_ANONYMOUS, at):
            at += len(_ANONYMOUS)
            continue
        if depth == 0 and name.startswith(_OPERATOR, at) and _is_word(name, at):
            # What follows belongs to the name, up to its parameters: operator(), operator<, operator long.
            end = name.find("(", at + len(_OPERATOR) + (2 if name.startswith("()", at + len(_OPERATOR)) else 0))
            return name[start:end] if end > 0 else name[start:]
        if char in "<{[":
            depth += 1
        elif char in ">}]":
            depth -= 1
        elif char == "(" and depth == 0:
            return name[start:at] if at > start else name
        elif char == " " and depth == 0:
            start = at + 1
        at += 1
    # No parameters: a name of another language, with whatever spaces it has.
    return name


def _is_word(name: str, at: int) -> bool:
    before = name[at - 1] if at else " "
    following = name[at + len(_OPERATOR) : at + len(_OPERATOR) + 1]
    return not (before.isalnum() or before == "_") and not (following.isalnum() or following == "_")
