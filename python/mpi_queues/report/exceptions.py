"""Exceptions, signals and ends of programs: a rank that is in a handler, or has left by one, may be why others wait."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Mapping, Tuple

from .._native import Snapshot
from .diagnosis_options import ROWS, Options, Write, write_more
from .places import where
from .words import clean, ranks_named, wrapped
from .worlds import rank_in

#: What became of it: before its name, and between that and the place.
_STATES = {
    "handled": ("handling", "raised in"),
    "unhandled": ("ended by", "raised in"),
    "unwinding": ("unwinding", "in"),
    "signal": ("in the handler of", "which came in"),
    "ending": ("ending itself by", "in"),
    "ended": ("at", "in"),
}

#: Where the name is not known, or there is none.
_NAMELESS = {"signal": "a signal", "unwinding": "a C++ exception", "ended": "the end of the Python program"}


def write_exceptions(snapshot: Snapshot, told: Iterable[Mapping[str, Any]], write: Write, options: Options) -> None:
    """A line for each place at which ranks have raised one, but for those that a finding has ``told``."""
    known = {_key(one, options) for one in told}
    groups: Dict[Tuple[str, str, str], List[int]] = {}
    for process in snapshot.with_exceptions():
        rank = rank_in(process, snapshot)
        if rank is not None:
            for exception in process.exceptions:
                groups.setdefault(_key(exception, options), []).append(rank)
    rows = [(key, ranks) for key, ranks in groups.items() if key not in known]
    if not rows:
        return
    write("\nExceptions:\n")
    for (name, state, place), ranks in rows[: options.of(ROWS)]:
        doing, came = _STATES.get(state, (state, "in"))
        line = f"{ranks_named(ranks)} {doing} {name}" + (f", {came} {place}" if place else "")
        write(wrapped(line, "  ", "      ", width=options.width))
    if len(rows) > options.of(ROWS):
        write_more(f"  … and {len(rows) - options.of(ROWS)} more", write, options)


def _key(exception: Mapping[str, Any], options: Options) -> Tuple[str, str, str]:
    place = where({**exception, "caller": exception.get("function")}, full=options.verbose)
    state = str(exception.get("state") or "")
    name = clean(str(exception.get("name") or "")) or _NAMELESS.get(state, "an exception")
    return name, state, clean(place)
