"""Source text of the same length with spaces for what is no code: comments, and what stands in quotes.

A source is a stranger's: it is gone through once, whatever stands in it.
"""

from __future__ import annotations

import re
from typing import List

#: Where something may begin that is no code: a comment, a string or character, a line of the preprocessor.
_BEGINNING = re.compile(r"//|/\*|[\"']|^[ \t]*\#", re.MULTILINE)
#: What matters in each: all else is passed by at once. A backslash goes with what follows it.
_IN_LINE = re.compile(r"[\\\n]")
_IN_STRING = {'"': re.compile(r'["\\\n]'), "'": re.compile(r"['\\\n]")}
_IN_DIRECTIVE = re.compile(r"[\\\n]|/\*")
#: The mark before the parenthesis of a raw string has at most 16 characters.
_RAW = re.compile(r'"([^\s()\\]{0,16})\(')
_NO_LINE_END = re.compile(r"[^\n]+")
_DIGITS = frozenset("0123456789abcdefABCDEF")


def _spaces(text: str) -> str:
    """As many spaces, with the line ends that there were."""
    return _NO_LINE_END.sub(lambda match: " " * len(match[0]), text)


def c(text: str) -> str:
    """C and C++. Of strings the quotes are left."""
    found: List[str] = []
    done, at = 0, 0
    while beginning := _BEGINNING.search(text, at):
        start, what = beginning.start(), beginning[0]
        if what == "'" and text[max(0, start - 1) : start] in _DIGITS:
            # A separator of digits in C++.
            at = start + 1
            continue
        end = _end(text, start, what)
        blank = text[start:end]
        if what in "\"'" and len(blank) > 1:
            blank = blank[0] + _spaces(blank[1:-1]) + (blank[-1] if blank[-1] != "\n" else "\n")
        else:
            blank = _spaces(blank)
        found += [text[done:start], blank]
        done = at = end
    found.append(text[done:])
    return "".join(found).replace("\\\n", " \n")


def _end(text: str, start: int, what: str) -> int:
    """Where what begins at ``start`` ends."""
    if what == "/*":
        end = text.find("*/", start + 2)
        return len(text) if end < 0 else end + 2
    if what == '"' and text[max(0, start - 1) : start] == "R" and (raw := _RAW.match(text, start)):
        closing = f'){raw[1]}"'
        end = text.find(closing, raw.end())
        # One that is never closed takes the rest: so nothing is gone through twice.
        return len(text) if end < 0 else end + len(closing)
    if what in _IN_STRING:
        return _end_of(text, start + 1, _IN_STRING[what], closing=what)
    return _end_of(text, start + len(what), _IN_LINE if what == "//" else _IN_DIRECTIVE, closing="")


def _end_of(text: str, at: int, mark: re.Pattern[str], closing: str) -> int:
    """The end of what goes to the end of its line, or to a quote; a backslash hides what follows it."""
    while found := mark.search(text, at):
        if found[0] == "\\":
            at = min(found.end() + 1, len(text))
        else:
            return found.end() if found[0] == closing else found.start()
    return len(text)


_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")


def without_comments(text: str, code: str) -> str:
    """A piece of source without comments, with its strings; ``code`` is what this file made of it."""
    found, at = [], 0
    for match in _QUOTED.finditer(code):
        found += [code[at : match.start()], text[match.start() : match.end()]]
        at = match.end()
    return "".join([*found, code[at:]])


def fortran(text: str, *, fixed: bool) -> str:
    """Fortran in free or fixed form. Marks of continuation lines are spaces, too; of strings the quotes are left."""
    return "\n".join(_fortran_line(line, fixed=fixed) for line in text.split("\n"))


def _fortran_line(line: str, *, fixed: bool) -> str:
    if fixed and line[:1] in ("c", "C", "*", "d", "D", "!"):
        return " " * len(line)
    if line.startswith("#"):
        return " " * len(line)
    if fixed and "\t" not in line[:6] and line[:5].isspace() and line[5:6] not in ("", " ", "0"):
        line = " " * 6 + line[6:]
    found, quote = [], ""
    for at, char in enumerate(line):
        if quote:
            found.append(char if char == quote else " ")
            quote = "" if char == quote else quote
        elif char == "!":
            return "".join(found) + " " * (len(line) - at)
        elif char in "\"'":
            quote = char
            found.append(char)
        else:
            found.append(" " if char == "&" else char)
    return "".join(found)
