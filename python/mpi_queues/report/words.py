"""Small pieces of text: sizes, ranks, counts, and strings that fit a width."""

from __future__ import annotations

import re
import unicodedata
from typing import Iterable, List, Optional, Sequence, Tuple

from .._native import printable

#: Columns of a report that no terminal shows. No line is wider, but for a path that is.
WIDTH = 80

#: A word that is a path, perhaps with a line behind it.
_PATH = re.compile(r"^\(?\.{0,2}/")


def clean(text: str) -> str:
    """Text without characters that would move the cursor, begin a line or hide what follows."""
    if text.isascii() and text.isprintable():
        return text
    return printable(text)


def columns(text: str) -> int:
    """How many columns of a terminal the text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def shorten(text: str, width: int, *, keep_end: bool = False) -> str:
    """The text in at most ``width`` columns; what is left out is shown as an ellipsis."""
    text = clean(text)
    if columns(text) <= width:
        return text
    characters = list(reversed(text)) if keep_end else list(text)
    taken: List[str] = []
    used = 1
    for char in characters:
        used += columns(char)
        if used > width:
            break
        taken.append(char)
    return "…" + "".join(reversed(taken)) if keep_end else "".join(taken) + "…"


def pad(text: str, width: int) -> str:
    """The text, filled with blanks to ``width`` columns."""
    return text + " " * max(0, width - columns(text))


def size(count: Optional[int]) -> str:
    """A number of bytes as people read it; the JSON has it exactly."""
    if count is None:
        return "?"
    if count < 1024:
        return f"{count} B"
    amount = float(count)
    for unit in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        amount /= 1024
        if amount < 999.95 or unit == "PiB":
            break
    return f"{amount:.1f} {unit}"


def counted(count: int, thing: str) -> str:
    """``1 process``, ``2 processes``."""
    if count == 1:
        return f"1 {thing}"
    return f"{count:,} {thing}{'es' if thing.endswith('ss') else 's'}"


def ranks(group: Optional[Sequence[Optional[int]]], limit: int = 12) -> str:
    """World ranks in rank order, runs joined: ``0-3, 8 and 10``; of more runs than ``limit`` the first ones."""
    if group is None:
        return "not known"
    if not group:
        return "none"
    parts = runs(group, limit)
    return joined(parts) if len(parts) <= limit else ", ".join(parts[:limit]) + ", …"


def runs(group: Sequence[Optional[int]], limit: int) -> List[str]:
    """Ranks in this order, runs of three and more joined: ``0-3``, ``8``; of more than ``limit`` a few more."""
    parts: List[str] = []
    at = 0
    while at < len(group) and len(parts) <= limit:
        first = group[at]
        end = at
        if first is None:
            while end + 1 < len(group) and group[end + 1] is None:
                end += 1
            parts.append("?" if end == at else f"? (x{end - at + 1})")
        else:
            while end + 1 < len(group) and group[end + 1] == first + (end + 1 - at):
                end += 1
            length = end - at + 1
            if length <= 2:
                parts += [str(first + offset) for offset in range(length)]
            else:
                parts.append(f"{first}-{first + length - 1}")
        at = end + 1
    return parts


def ranks_named(members: Iterable[int]) -> str:
    """``rank 3`` or ``ranks 0-2 and 5``."""
    different = sorted(set(members))
    return f"rank{'' if len(different) == 1 else 's'} {ranks(different)}"


def joined(parts: Sequence[str], last: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``, as the core's sentences have ranks."""
    return f" {last} ".join([*([", ".join(parts[:-1])] if len(parts) > 1 else []), *parts[-1:]])


def wrapped(text: str, indent: str, further: Optional[str] = None, width: int = WIDTH) -> str:
    """The text in lines of at most ``width`` columns, each ended.

    A path is never broken: one that is wider has a line of its own.
    """
    further = indent if further is None else further
    lines: List[str] = []
    line, used = indent, columns(indent)
    empty = True
    for word in clean(text).split():
        rest, whole = word, _PATH.search(word) is not None
        if not empty and used + 1 + columns(rest) > width:
            lines.append(line)
            line, used, empty = further, columns(further), True
        if not empty:
            line, used = line + " ", used + 1
        # Another word wider than a line is broken where the line ends.
        while used + columns(rest) > width and not whole:
            taken = _prefix(rest, width - used)
            lines.append(line + taken)
            rest = rest[len(taken) :]
            line, used = further, columns(further)
        line, used, empty = line + rest, used + columns(rest), False
    return "".join(each + "\n" for each in [*lines, line])


def _prefix(text: str, width: int) -> str:
    """As much of the beginning as fits, one character at least."""
    used = 0
    for at, char in enumerate(text):
        used += columns(char)
        if used > width:
            return text[: max(1, at)]
    return text


def listed(names: Iterable[str], limit: int = 20) -> str:
    """Names with commas; those beyond ``limit`` are counted."""
    all_names = list(names)
    shown = ", ".join(all_names[:limit])
    more = len(all_names) - limit
    return f"{shown} and {more:,} more" if more > 0 else shown


def fitted(text: str, width: int = WIDTH) -> str:
    """The text with the lines broken that are wider; others stay as they are."""
    lines = []
    for line in text.splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        lines += [line] if columns(line) <= width else wrapped(line, indent, width=width).splitlines()
    return "\n".join(lines)


def in_columns(rows: Sequence[Tuple[str, str]], indent: str = "  ", width: int = WIDTH) -> List[str]:
    """Lines of two columns; what is on the right goes on below itself, or below all where there is no room beside."""
    left = max((columns(row[0]) for row in rows), default=0)
    lines: List[str] = []
    for head, text in rows:
        line = f"{indent}{pad(head, left)}  {text}"
        if columns(line) <= width:
            lines.append(line.rstrip())
            continue
        beside = len(indent) + left + 2
        if width - beside < 30:
            lines += [f"{indent}{head}", *wrapped(text, indent + "    ", width=width).splitlines()]
            continue
        first, *rest = wrapped(text, " " * beside, width=width).splitlines()
        lines += [f"{indent}{pad(head, left)}  {first.lstrip()}", *rest]
    return lines


#: So many problems are read.
MOST_PROBLEMS = 50


def at_most(problems: Iterable[str]) -> List[str]:
    """What could not be read, each once, as far as it is read, and how much more there is."""
    told = list(dict.fromkeys(problems))
    if len(told) <= MOST_PROBLEMS:
        return told
    more = counted(len(told) - MOST_PROBLEMS + 1, "more problem")
    return [*told[: MOST_PROBLEMS - 1], f"there are {more}, which the JSON has (--format json)"]
