"""Which constant of MPI an argument is, by its text."""

from __future__ import annotations

import re
from typing import Optional

from .constants import CONSTANT

_CAST = re.compile(r"\(\s*(?:const\s+)?(?:MPIX?_[A-Z]\w*|void|int|char|(?:unsigned\s+)?long)\s*\**\s*\)\s*(?=[(\w])")


def constant_in(text: str) -> Optional[str]:
    """The constant of MPI that an expression is, in parentheses and behind casts or not."""
    for _ in range(8):
        text = text.strip()
        bare = _CAST.sub("", text, count=1)
        if bare == text and _is_wrapped(text):
            bare = text[1:-1]
        if bare == text:
            break
        text = bare
    name = text.split("::")[-1]
    return name if CONSTANT.match(name) else None


def _is_wrapped(text: str) -> bool:
    """Whether the first parenthesis is closed by the last character."""
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return at > 0 and at == len(text) - 1
    return False


def constant_in_fortran(text: str) -> Optional[str]:
    """As :func:`constant_in`: names of Fortran may be in any letters."""
    name = text.strip().upper()
    return name if CONSTANT.match(name) else None
