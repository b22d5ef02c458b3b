"""Lines of a diagnosis: who stands where and waits for what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from .diagnosis_options import Options, Write
from .words import columns, pad, wrapped


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
