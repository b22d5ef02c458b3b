"""The call of an MPI function in a source file, by the line at which a debugger sees it."""

from __future__ import annotations

import bisect
import functools
import os
import re
from typing import List, NamedTuple, Optional, Tuple

from . import blanks

#: Larger files are no sources that a person wrote.
_MAX_BYTES = 16 << 20
#: A statement with more arguments or characters is not taken apart.
_LONGEST_CALL = 20_000

_FORTRAN = (".f", ".for", ".ftn", ".f77", ".f90", ".f95", ".f03", ".f08", ".fpp")
_FIXED = (".f", ".for", ".ftn", ".f77", ".fpp")


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
        status = os.stat(path)
        if status.st_size > _MAX_BYTES:
            raise Unknown(f"the source file {name} has {status.st_size:,} bytes")
        if built is None:
            raise Unknown(f"whether the source file {name} is the one that the program was built from is not known")
        if status.st_mtime > built:
            raise Unknown(f"the source {name} was changed after the program was built")
        return _read(path, status.st_mtime_ns, status.st_size)
    except OSError:
        raise Unknown(f"the source file {path} is not on this machine (`cp -p` it there)") from None


@functools.lru_cache(maxsize=64)
def _read(path: str, changed: int, size: int) -> Source:
    with open(path, encoding="utf-8", errors="replace", newline="") as file:
        text = file.read(_MAX_BYTES)
    text = text.replace("\r\n", "\n")
    fortran = is_fortran(path)
    if fortran:
        return Source(path, text, blanks.fortran(text, fixed=os.path.splitext(path)[1].lower() in _FIXED), True)
    return Source(path, text, blanks.c(text), False)


@functools.lru_cache(maxsize=1024)
def find(source: Source, function: str, line: int) -> CallText:
    """The call of ``function`` (its name in C) that a debugger sees at ``line``.

    Raises:
        Unknown: where none or several stand there.
    """
    flags = re.IGNORECASE if source.fortran else 0
    lines = _Lines(source.code)
    if not 0 < line <= lines.count:
        raise Unknown(f"the source {os.path.basename(source.path)} has no line {line}")
    inside: List[Tuple[str, ...]] = []
    around: List[Tuple[str, ...]] = []
    anywhere: List[Tuple[str, ...]] = []
    for match in re.finditer(rf"\bP?{re.escape(function)}\s*\(", source.code, flags):
        first = lines.of(match.start())
        arguments, end = _arguments(source, match.end())
        if arguments is None:
            continue
        anywhere.append(arguments)
        if first <= line <= lines.of(end):
            inside.append(arguments)
        elif _statement(source, lines, match.start(), end, line):
            around.append(arguments)
    found = set(inside or around)
    if not found and len(anywhere) == 1 and source.fortran and os.path.splitext(source.path)[1].islower():
        # Optimised code may have the line of another statement. Without a preprocessor the only call is the one.
        found = set(anywhere)
    where = f"line {line} of {os.path.basename(source.path)}"
    if not found:
        raise Unknown(f"no call of {function} stands in {where}")
    if len(found) > 1:
        raise Unknown(f"several calls of {function} stand in {where}")
    return CallText(source, found.pop())


class _Lines:
    """Numbers of lines, from 1."""

    def __init__(self, text: str) -> None:
        self._ends = [match.start() for match in re.finditer("\n", text)]
        self.count = len(self._ends) + 1

    def of(self, place: int) -> int:
        return bisect.bisect_left(self._ends, place) + 1


def _statement(source: Source, lines: _Lines, start: int, end: int, line: int) -> bool:
    """Whether a line belongs to the statement around a call: a compiler may tell its first or last line."""
    code = source.code
    if source.fortran:
        # gfortran gives it one of the call's own lines.
        return False
    first = max(code.rfind(mark, 0, start) for mark in ";{}")
    last = code.find(";", end)
    last = len(code) if last < 0 else last
    begin = re.compile(r"\s*").match(code, first + 1)
    return lines.of(begin.end() if begin else first + 1) <= line <= lines.of(last)


def _arguments(source: Source, start: int) -> Tuple[Optional[Tuple[str, ...]], int]:
    """The arguments of the call whose parenthesis ends before ``start``, and where it is closed."""
    code, depth, begin = source.code, 0, start
    found: List[str] = []
    for at in range(start, min(len(code), start + _LONGEST_CALL)):
        char = code[at]
        if char in "([{":
            depth += 1
        elif char in ")]}":
            if depth == 0:
                found.append(_clean(source, begin, at))
                return (() if found == [""] else tuple(found)), at
            depth -= 1
        elif char == "," and depth == 0:
            found.append(_clean(source, begin, at))
            begin = at + 1
    return None, start


def _clean(source: Source, begin: int, end: int) -> str:
    """An argument in one line, with its strings and without its comments."""
    return " ".join(blanks.without_comments(source.text[begin:end], source.code[begin:end]).split())
