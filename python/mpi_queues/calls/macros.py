"""Constants that a program defines for the preprocessor: gcc tells debuggers of them only with -g3."""

from __future__ import annotations

import functools
import os
import re
from typing import Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

from . import source
from .source import Source, Unknown

#: Headers are looked through so deep, and so many.
_DEEPEST = 4
_MOST_FILES = 64
#: Definitions that name other definitions are followed so far.
_MOST_STEPS = 8
#: Headers are looked through up to so many characters in all.
_MAX_TOTAL = 8 << 20
#: A definition, or an expression with them, that is longer is none of a constant.
_LONGEST = 2000

_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w+)(.*)")
_DEFINED = re.compile(r"[ \t]+(\w+)(?![\w(])[ \t]*(.*)")
_NAME = re.compile(r"(?<![\w.>])[A-Za-z_]\w*")
_COMMENT = re.compile(r"/\*|//")
_INCLUDE = re.compile(r'\s*"([^"\n]+)"')


class _Definition(NamedTuple):
    text: str
    #: Whether it stands under an #if: then another one may hold.
    conditional: bool


def expanded(found: Source, text: str, built: Optional[float]) -> Optional[str]:
    """An expression with the definitions of the source and of the headers next to it; None where none of them is in it.

    Raises:
        Unknown: where there are several, or a header has changed since the program was built.
    """
    definitions = _of_program(found, built)
    changed = False
    for _ in range(_MOST_STEPS):
        names = [name for name in _NAME.findall(text) if name in definitions]
        if not names:
            break
        for name in set(names):
            known = definitions[name]
            if len(set(known)) > 1 or known[0].conditional:
                raise Unknown(f"{name} is defined in several ways, or under a condition")
            # A backslash in a replacement would have a meaning of its own.
            value = known[0].text.replace("\\", r"\\")
            text = re.sub(rf"(?<![\w.>]){name}\b", f"({value})", text)
            if len(text) > _LONGEST:
                raise Unknown("the definitions in it are too long")
        changed = True
    return text if changed else None


def _of_program(found: Source, built: Optional[float]) -> Dict[str, List[_Definition]]:
    definitions: Dict[str, List[_Definition]] = {}
    seen: Set[str] = set()
    waiting: List[Tuple[Source, int]] = [(found, 0)]
    total = 0
    while waiting and len(seen) < _MOST_FILES:
        one, depth = waiting.pop()
        if one.path in seen:
            continue
        seen.add(one.path)
        own, includes = _of_file(one)
        for name, more in own.items():
            definitions.setdefault(name, []).extend(more)
        for include in includes[:_MOST_FILES] if depth < _DEEPEST else ():
            path = os.path.normpath(os.path.join(os.path.dirname(one.path), include))
            if os.path.isfile(path):
                if total > _MAX_TOTAL:
                    raise Unknown("the headers next to its source are too long")
                header = source.read(path, built)
                total += len(header.text)
                waiting.append((header, depth + 1))
    return definitions


@functools.lru_cache(maxsize=64)
def _of_file(one: Source) -> Tuple[Dict[str, List[_Definition]], List[str]]:
    """The object-like definitions of a file, and what it includes by name in quotes."""
    definitions: Dict[str, List[_Definition]] = {}
    includes: List[str] = []
    #: Of each #if that is open whether it may leave out what follows, and how many may.
    conditions: List[bool] = []
    under = 0
    lines = list(_logical_lines(one.text))
    for at, line in enumerate(lines):
        match = _DIRECTIVE.match(line)
        if match is None:
            continue
        word, rest = match.groups()
        if word in ("if", "ifdef", "ifndef"):
            conditions.append(not (word == "ifndef" and _is_guard(rest.strip(), lines[at + 1 : at + 4])))
            under += conditions[-1]
        elif word == "endif" and conditions:
            under -= conditions.pop()
        elif word == "undef":
            definitions.setdefault(rest.strip(), []).append(_Definition("", True))
        elif word == "include" and (name := _INCLUDE.match(rest)):
            includes.append(name[1])
        elif word == "define" and (defined := _DEFINED.match(rest)):
            text = _without_comments(defined[2]).strip()
            if len(text) > _LONGEST:
                # It is there, but nobody can say what it is.
                definitions.setdefault(defined[1], []).append(_Definition("", True))
            elif text:
                definitions.setdefault(defined[1], []).append(_Definition(text, under > 0))
    return definitions, includes


def _without_comments(text: str) -> str:
    """A line without its comments, each a space; one that is not closed is left as it is."""
    found: List[str] = []
    at = 0
    while comment := _COMMENT.search(text, at):
        end = len(text) if comment[0] == "//" else text.find("*/", comment.end()) + 2
        if end < comment.end():
            # No other that begins behind it is closed, either, but one may go to the end of the line.
            last = text.find("//", comment.end())
            return "".join([*found, text[at:last] if last >= 0 else text[at:]])
        found += [text[at : comment.start()], " "]
        at = end
    return "".join([*found, text[at:]])


def _logical_lines(text: str) -> Iterator[str]:
    return iter(text.replace("\\\n", " ").split("\n"))


def _is_guard(name: str, following: List[str]) -> bool:
    """Whether #ifndef NAME is what keeps a header from being read twice: NAME is defined next, as nothing."""
    return any(re.match(rf"\s*#\s*define\s+{re.escape(name)}\s*$", line[:_LONGEST]) for line in following)
