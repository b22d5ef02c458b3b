"""Lines of the program's source around a call, as quoted text.

What a process or a recording calls its source file is a stranger's word: only regular files are opened that are named
as sources are, so that no recording makes a report quote something else of the person who opens it.
"""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass
from typing import Any, Iterator, List, Mapping, Optional, Tuple

from ..system import processes
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

    path: str
    #: The number of the first one.
    first: int
    lines: List[str]
    #: The numbers of those that are meant.
    meant: Tuple[int, ...]

    def joined(self, other: Quoted) -> Optional[Quoted]:
        """Both in one, where they have lines of a source in common; else None."""
        ends = self.first + len(self.lines), other.first + len(other.lines)
        if other.path != self.path or other.first >= ends[0] or self.first >= ends[1]:
            return None
        numbered = {number: line for one in (other, self) for number, line in enumerate(one.lines, one.first)}
        meant = sorted({*self.meant, *other.meant})
        return Quoted(self.path, min(numbered), [numbered[number] for number in sorted(numbered)], tuple(meant))


def quoted(call: Mapping[str, Any], executable: Optional[str], pid: Optional[int]) -> Optional[Quoted]:
    """The lines around the one of a call; None where they are not here.

    Args:
        call: ``file``, ``line``, ``function`` as the JSON has them.
        executable: the program. Compilers are often given names without a directory: a file beside the program, or in
            the directory where the process is, counts where the lines name the function that is called.
        pid: a live process of this machine: where root asks, the file is opened with the rights of its user, else with
            everybody's.
    """
    file, line, function = call.get("file"), call.get("line"), str(call.get("function") or "")
    if not file or line is None or line < 1 or os.path.splitext(file)[1][1:].lower() not in _ENDINGS:
        return None
    if os.path.isabs(file):
        return _quoted(file, line, pid)
    for directory in _directories(executable, pid) if function else ():
        found = _quoted(os.path.join(directory, file), line, pid)
        # Fortran's names have an underscore behind them in the program.
        name = function.lower().rstrip("_")
        if found is not None and any(name in one.lower() for one in found.lines):
            return found
    return None


def _directories(executable: Optional[str], pid: Optional[int]) -> Iterator[str]:
    if executable and os.path.isabs(executable):
        yield os.path.dirname(executable)
    if pid is not None:
        # One that has ended, or is another user's, tells nothing.
        with contextlib.suppress(OSError):
            yield os.readlink(f"{processes.directory(pid)}/cwd")


def _quoted(path: str, line: int, pid: Optional[int]) -> Optional[Quoted]:
    try:
        with opened(path, reader_of(pid)) as source:
            content = source.read(_LARGEST + 1)
    except (OSError, ValueError):
        return None
    if len(content) > _LARGEST or b"\0" in content:
        return None
    lines = content.decode("utf-8", "replace").split("\n")
    if line > len(lines):
        return None
    first = max(1, line - _AROUND)
    return Quoted(path, first, [_shown(one) for one in lines[first - 1 : line + _AROUND]], (line,))


def _shown(line: str) -> str:
    text = line.rstrip("\r").expandtabs(8)
    return in_a_line(text if len(text) <= _LONGEST_LINE else text[:_LONGEST_LINE] + "…")
