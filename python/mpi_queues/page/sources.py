"""Lines of the program's source around a call, as quoted text.

What a process or a recording calls its source file is a stranger's word: only regular files are opened that are named
as sources are, so that no recording makes a report quote something else of the person who opens it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import List, Optional

from ..system.files import opened, reader_of
from ..system.output import in_a_line

#: Lines before and after the one that is meant.
_AROUND = 3

#: A larger file is none that people write.
_LARGEST = 8 << 20

#: Of a line so many characters are shown.
_LONGEST_LINE = 200

#: What sources are called, by the ends of their names.
_ENDINGS = frozenset(
    re.split(
        " ",
        "c h cc cpp cxx c++ hh hpp hxx h++ inl ipp tcc cu cuh hip m mm "
        "f for ftn f77 f90 f95 f03 f08 f18 inc py pyx jl rs",
    )
)


@dataclass(frozen=True)
class Quoted:
    """Lines of a source."""

    #: The number of the first one.
    first: int
    lines: List[str]
    #: The number of the one that is meant.
    meant: int


def quoted(file: Optional[str], line: Optional[int], pid: Optional[int]) -> Optional[Quoted]:
    """The lines around one; None where they are not here. Where root asks, the file is opened with the rights of the
    user of ``pid``, a live process of this machine that names it; with everybody's where that is None."""
    if not file or line is None or line < 1 or not os.path.isabs(file):
        return None
    if os.path.splitext(file)[1][1:].lower() not in _ENDINGS:
        return None
    try:
        with opened(file, reader_of(pid)) as source:
            content = source.read(_LARGEST + 1)
    except (OSError, ValueError):
        return None
    if len(content) > _LARGEST or b"\0" in content:
        return None
    lines = content.decode("utf-8", "replace").split("\n")
    if line > len(lines):
        return None
    first = max(1, line - _AROUND)
    return Quoted(first, [_shown(one) for one in lines[first - 1 : line + _AROUND]], line)


def _shown(line: str) -> str:
    text = line.rstrip("\r").expandtabs(8)
    return in_a_line(text if len(text) <= _LONGEST_LINE else text[:_LONGEST_LINE] + "…")
