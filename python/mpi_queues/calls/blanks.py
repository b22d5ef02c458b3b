"""Source text of the same length with spaces for what is no code: comments, and what stands in quotes."""

from __future__ import annotations

import re

#: Comments, strings, characters and preprocessor lines of C and C++; a quote between digits is a separator of C++.
_C = re.compile(
    r"""//(?:[^\\\n]|\\.|\\\n)*
      | /\*.*?(?:\*/|\Z)
      | R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"
      | "(?:[^"\\\n]|\\.|\\\n)*"?
      | (?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)*'?
      | ^[ \t]*\#(?:[^\\\n/]|\\.|\\\n|/(?!\*))*
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


def _spaces(text: str) -> str:
    """As many spaces, with the line ends that there were."""
    return re.sub(r"[^\n]", " ", text)


def c(text: str) -> str:
    """C and C++. Of strings the quotes are left."""

    def blank(match: re.Match[str]) -> str:
        found = match[0]
        if found[0] in "\"'" and len(found) > 1:
            return found[0] + _spaces(found[1:-1]) + found[-1]
        return _spaces(found)

    return re.sub(r"\\\n", " \n", _C.sub(blank, text))


def without_comments(text: str, code: str) -> str:
    """A piece of source without comments, with its strings; ``code`` is what this file made of it."""
    found, at = [], 0
    for match in re.finditer(r"\"[^\"]*\"|'[^']*'", code):
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
