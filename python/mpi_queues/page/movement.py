"""What moved between two looks, and what the ranks are: plain HTML."""

from __future__ import annotations

from typing import Dict, List, Optional, Tuple

from .._native import Diagnosis
from ..report.diagnosis import seconds
from ..report.words import ranks_named, shorten
from .elements import Element, breakable, element, row, table
from .graph import set_of

#: What the words of the JSON say.
MOVED = {
    "stuck": "did not move",
    "slow": "is at the same place, and something moved",
    "spinning": "goes in and out of MPI and gets nowhere",
    "moved": "went on",
    "unknown": "not known",
}

_MOST_ROWS = 200


def movement(diagnosis: Diagnosis) -> Optional[List[Element]]:
    """Those that moved alike, a row each; None where there was one look."""
    moved = diagnosis.moved_alike()
    if not moved:
        return None
    interval = diagnosis.interval_ms
    apart = f" They were {seconds(interval)} apart." if interval else ""
    rows = [
        element(
            "tr",
            element("td", shorten(ranks_named(ranks), 300) if ranks else "a process"),
            element("td", state),
            element("td", shorten("; ".join(how), 1000) or MOVED.get(state, state)),
            data_ranks=set_of(ranks),
        )
        for state, how, ranks in moved[:_MOST_ROWS]
    ]
    more = len(moved) - len(rows)
    return [
        element("p", f"Live processes were read twice.{apart}"),
        table("How ranks moved between the two looks", ("Ranks", "State", "How"), rows, "moved rows"),
        element("p", f"{more:,} more rows are left out.", class_="note") if more > 0 else element("p"),
    ]


def programs(diagnosis: Diagnosis) -> Element:
    """Which program on which MPI, read by whom, those that are alike together."""
    groups: Dict[Tuple[str, ...], List[Optional[int]]] = {}
    snapshot = diagnosis.snapshot
    for process, ranks, nameless in snapshot.alike(set(), others=True, arguments=False):
        key = (process.executable or "", _mpi(process.mpi), _source(process.source))
        groups.setdefault(key, []).extend([*ranks, *([None] * nameless)])
    rows = [
        row(
            _members(ranks),
            breakable(shorten(program, 400, keep_end=True)),
            shorten(mpi, 200),
            shorten(source, 300),
        )
        for (program, mpi, source), ranks in list(groups.items())[:_MOST_ROWS]
    ]
    return table("Programs, and how they were read", ("Ranks", "Program", "MPI", "Read"), rows, "rows")


def _members(ranks: List[Optional[int]]) -> str:
    known = [rank for rank in ranks if rank is not None]
    without = len(ranks) - len(known)
    parts = [shorten(ranks_named(known), 200)] if known else []
    return ", ".join([*parts, *([f"{without:,} without a rank"] if without else [])])


def _mpi(mpi: object) -> str:
    if not isinstance(mpi, dict):
        return ""
    return " ".join(str(mpi[name]) for name in ("implementation", "version", "transport") if mpi.get(name))


def _source(source: object) -> str:
    if not isinstance(source, dict):
        return ""
    return ", ".join(str(source[name]) for name in ("kind", "layouts", "via", "plugin") if source.get(name))


def notes(diagnosis: Diagnosis) -> Optional[Element]:
    """What could not be read, and what to know of the whole."""
    snapshot = diagnosis.snapshot
    told = [*snapshot.notes, *snapshot.problems]
    if not told:
        return None
    more = [element("li", f"and {len(told) - 50:,} more")] if len(told) > 50 else []
    return element("ul", [element("li", shorten(one, 2000)) for one in told[:50]], more, class_="notes")
