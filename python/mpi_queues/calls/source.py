"""The call of an MPI function in a source file, by the line at which a debugger sees it."""

from __future__ import annotations

import bisect
import functools
import itertools
import os
import re
import time
from typing import IO, Dict, List, NamedTuple, Optional, Set, Tuple

from ..system import files
from . import blanks

#: Larger files are no sources that a person wrote.
_MAX_BYTES = 16 << 20
#: So many bytes of sources are gone through without a pause of so many seconds: ranks are stopped meanwhile.
_MAX_TAKEN = 64 << 20
_PAUSE = 5.0
_MOST_KNOWN = 64
#: A statement with more arguments or characters is not taken apart.
_LONGEST_CALL = 20_000
#: Nor are calls found in a line that is longer.
_LONGEST_LINE = 20_000
#: Of a function that is called more often in one source no call is the only one.
_MOST_CALLS = 200

_FORTRAN = (".f", ".for", ".ftn", ".f77", ".f90", ".f95", ".f03", ".f08", ".fpp")
_FIXED = (".f", ".for", ".ftn", ".f77", ".fpp")


_LINE_END = re.compile(r"\n")
_NO_SPACE = re.compile(r"\S")
_BRACKET = re.compile(r"[()\[\]{}]")
#: A comma, or a bracket with what is in it.
_COMMA = re.compile(r"[,(\[{]")


class Unknown(Exception):
    """Why something about a call is not known, as a sentence without a capital and a full stop."""


class Source(NamedTuple):
    """A source file."""

    path: str
    text: str
    #: The same, with spaces for comments and what stands in quotes.
    code: str
    fortran: bool


class CallText(NamedTuple):
    """A call as it is written."""

    source: Source
    arguments: Tuple[str, ...]


def is_fortran(path: str) -> bool:
    """Whether a file is Fortran, by its name."""
    return os.path.splitext(path)[1].lower() in _FORTRAN


def read(path: str, built: Optional[float]) -> Source:
    """A source of a program that was built at the time ``built`` (as of os.stat; None: not known).

    Raises:
        Unknown: where it cannot be read, or is not what the program was built from.
    """
    name = os.path.basename(path)
    try:
        with files.opened(path) as file:
            status = os.fstat(file.fileno())
            if status.st_size > _MAX_BYTES:
                raise Unknown(f"the source file {name} has {status.st_size:,} bytes")
            if built is None:
                raise Unknown(f"whether the source file {name} is the one that the program was built from is not known")
            if status.st_mtime > built:
                raise Unknown(f"the source {name} was changed after the program was built")
            # Whoever may open it may see what was read of it before.
            identity = (path, status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)
            source = _known.get(identity)
            if source is None:
                source = _read(path, file, status.st_size)
                if len(_known) >= _MOST_KNOWN:
                    _known.clear()
                _known[identity] = source
            return source
    except FileNotFoundError:
        raise Unknown(f"the source file {path} is not on this machine (`cp -p` it there)") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Unknown(f"the source file {path} cannot be read: {reason}") from None


_known: Dict[Tuple[str, int, int, int, int], Source] = {}
#: Bytes of sources that were gone through in one go, and when the last was.
_taken, _when = 0, 0.0


def _read(path: str, file: IO[bytes], size: int) -> Source:
    global _taken, _when
    now = time.monotonic()
    if now - _when > _PAUSE:
        _taken = 0
    if _taken + size > _MAX_TAKEN:
        raise Unknown(f"more than {_MAX_TAKEN >> 20} MiB of sources would have to be read")
    _taken, _when = _taken + size, now
    # As text files are read: other line ends than \n stay as they are.
    text = file.read(_MAX_BYTES).decode("utf-8", "replace").replace("\r\n", "\n")
    if is_fortran(path):
        return Source(path, text, blanks.fortran(text, fixed=os.path.splitext(path)[1].lower() in _FIXED), True)
    return Source(path, text, blanks.c(text), False)


@functools.lru_cache(maxsize=1024)
def find(source: Source, function: str, line: int) -> CallText:
    """The call of ``function`` (its name in C) that a debugger sees at ``line``.

    Raises:
        Unknown: where none or several stand there.
    """
    lines = _Lines(source.code)
    if not 0 < line <= lines.count:
        raise Unknown(f"the source {os.path.basename(source.path)} has no line {line}")
    name = re.compile(rf"\bP?{re.escape(function)}\s*\(", re.IGNORECASE if source.fortran else 0)
    first, last = lines.span(line)
    if last - first > _LONGEST_LINE:
        raise Unknown(f"line {line} of {os.path.basename(source.path)} has {last - first:,} characters")
    # A call that has anything to do with the line lies so near, or is none that we take apart.
    brackets = _Brackets(source, max(0, first - _LONGEST_CALL), min(len(source.code), last + _LONGEST_CALL))
    inside: Set[Tuple[str, ...]] = set()
    around: Set[Tuple[str, ...]] = set()
    for match in name.finditer(source.code, brackets.start, brackets.end):
        end = brackets.closing(match.end() - 1)
        if end is None:
            continue
        if lines.of(match.start()) <= line <= lines.of(end):
            inside.add(brackets.arguments(match.end() - 1, end))
        elif len(around) < 2 and _statement(source, lines, match.start(), end, line):
            around.add(brackets.arguments(match.end() - 1, end))
        if len(inside) > 1:
            # Which of them, no more of them can tell.
            break
    found = inside or around
    if not found and source.fortran and os.path.splitext(source.path)[1].islower():
        # Optimised code may have the line of another statement. Without a preprocessor the only call is the one.
        found = _anywhere(source, name)
    where = f"line {line} of {os.path.basename(source.path)}"
    if not found:
        raise Unknown(f"no call of {function} stands in {where}")
    if len(found) > 1:
        raise Unknown(f"several calls of {function} stand in {where}")
    return CallText(source, found.pop())


def _anywhere(source: Source, name: re.Pattern[str]) -> Set[Tuple[str, ...]]:
    """The arguments of the only call in a source; nothing where there are several."""
    places = list(itertools.islice(name.finditer(source.code), _MOST_CALLS + 1))
    if len(places) > _MOST_CALLS:
        return set()
    found: List[Tuple[str, ...]] = []
    for match in places:
        brackets = _Brackets(source, match.start(), min(len(source.code), match.end() + _LONGEST_CALL))
        end = brackets.closing(match.end() - 1)
        if end is not None:
            found.append(brackets.arguments(match.end() - 1, end))
    return set(found) if len(found) == 1 else set()


class _Lines:
    """Numbers of lines, from 1."""

    def __init__(self, text: str) -> None:
        self._ends = [match.start() for match in _LINE_END.finditer(text)]
        self._length = len(text)
        self.count = len(self._ends) + 1

    def of(self, place: int) -> int:
        return bisect.bisect_left(self._ends, place) + 1

    def span(self, line: int) -> Tuple[int, int]:
        """Where a line begins and ends."""
        first = self._ends[line - 2] + 1 if line > 1 else 0
        return first, self._ends[line - 1] if line <= len(self._ends) else self._length


def _statement(source: Source, lines: _Lines, start: int, end: int, line: int) -> bool:
    """Whether a line belongs to the statement around a call: a compiler may tell its first or last line."""
    code = source.code
    if source.fortran:
        # gfortran gives it one of the call's own lines.
        return False
    nearest, furthest = max(0, start - _LONGEST_CALL), min(len(code), end + _LONGEST_CALL)
    first = max(code.rfind(mark, nearest, start) for mark in ";{}")
    last = code.find(";", end, furthest)
    last = furthest if last < 0 else last
    begin = _NO_SPACE.search(code, max(nearest, first + 1), start)
    return lines.of(begin.start() if begin else first + 1) <= line <= lines.of(last)


class _Brackets:
    """Which bracket closes which in a piece of a source: gone through once, however deep they are."""

    def __init__(self, source: Source, start: int, end: int) -> None:
        self._source = source
        self.start, self.end = start, end
        #: By the place of the one that opens.
        self._closing: Dict[int, int] = {}
        opened: List[int] = []
        for match in _BRACKET.finditer(source.code, start, end):
            if match[0] in "([{":
                opened.append(match.start())
            elif opened:
                self._closing[opened.pop()] = match.start()

    def closing(self, at: int) -> Optional[int]:
        """Where the bracket at ``at`` is closed; None where it is not, or too far away."""
        end = self._closing.get(at)
        return end if end is not None and end - at <= _LONGEST_CALL else None

    def arguments(self, at: int, end: int) -> Tuple[str, ...]:
        """What stands between two brackets, by the commas that stand in no others."""
        found: List[str] = []
        begin = place = at + 1
        while match := _COMMA.search(self._source.code, place, end):
            inner = self._closing.get(match.start())
            if match[0] == ",":
                found.append(_clean(self._source, begin, match.start()))
                begin = match.end()
            place = match.end() if inner is None else inner + 1
        found.append(_clean(self._source, begin, end))
        return () if found == [""] else tuple(found)


def _clean(source: Source, begin: int, end: int) -> str:
    """An argument in one line, with its strings and without its comments."""
    return " ".join(blanks.without_comments(source.text[begin:end], source.code[begin:end]).split())
