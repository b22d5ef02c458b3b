"""Lines of a diagnosis: who stands where and waits for what."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Dict, List, Sequence, Tuple

from .diagnosis_options import Options, Write, with_hint
from .words import columns, pad, ranks_named, wrapped


@dataclass
class Row:
    """One of them, in its columns."""

    who: str
    call: str
    where: str
    waits: str
    #: In full, for those who want to see all; may be empty.
    full: str = ""
    #: Which calls started the requests that it waits for, a line each.
    started: Sequence[str] = ()
    #: Those of ``who`` that have a rank.
    ranks: Sequence[int] = ()


def at_one_place(rows: Sequence[Row], limit: int, options: Options) -> List[Row]:
    """The rows, those of ranks in the same call at the same place as one, so that each place stands once: below it what
    each of so many of them waits for."""
    places: Dict[Tuple[str, ...], List[Row]] = {}
    for row in rows:
        # A process without a rank is one of its own.
        own = "" if row.ranks else str(len(places))
        places.setdefault((row.call, row.where, row.full, own), []).append(row)
    return [_as_one(alike, limit, options) for alike in places.values()]


def _as_one(alike: Sequence[Row], limit: int, options: Options) -> Row:
    if len(alike) == 1:
        return alike[0]
    below: List[str] = []
    for row in alike[:limit]:
        waits = row.waits if len(row.ranks) == 1 else row.waits.replace("waits", "wait", 1)
        below += [f"{row.who} {waits}"] if waits else []
        below += [f"{row.who}: {line}" for line in row.started]
    more = [rank for row in alike[limit:] for rank in row.ranks]
    below += [with_hint(f"… and {ranks_named(more)}", options)] if more else []
    ranks = [rank for row in alike for rank in row.ranks]
    return replace(alike[0], who=ranks_named(ranks), ranks=ranks, waits="", started=below)


def write_rows(rows: Sequence[Row], write: Write, options: Options) -> None:
    """A line for each where all fit, else what is waited for on a line of its own."""
    if not rows:
        return
    width = options.width
    who, call, place, waits = (
        max(columns(getattr(row, name)) for row in rows) for name in ("who", "call", "where", "waits")
    )
    wide = [who, call, place, waits]
    one_line = 2 + sum(wide) + 2 * sum(length > 0 for length in wide[1:]) <= width
    for row in rows:
        first = [pad(row.who, min(who, width // 3)), pad(row.call, min(call, width // 3)) if one_line else row.call]
        parts = [*first, pad(row.where, place) if one_line else row.where, row.waits if one_line else ""]
        line = "  " + "  ".join(part for part in parts if part)
        if columns(line.rstrip()) <= width:
            write(line.rstrip() + "\n")
        else:
            write(wrapped(line, "  ", "      ", width=width))
        if row.waits and not one_line:
            write(wrapped(row.waits, "      ", "        ", width=width))
        for line in row.started:
            write(wrapped(line, "      ", "        ", width=width))
        if row.full:
            write(wrapped(row.full, "      ", "        ", width=width))
