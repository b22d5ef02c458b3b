"""What changed from one diagnosis to a later one, of the same job or of another run of it."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .._native import Diagnosis, Finding
from ..report.words import counted, ranks_named, shorten
from ..system.written import new_file
from . import cause
from .document import document
from .elements import Child, Element, element, row, table
from .report import about, title
from .writing import Path

#: Rows of a table.
_MOST = 300

_QUEUES = ("pending sends", "pending receives", "unexpected messages")

#: Where a rank stands, in words: function and place.
_Where = Tuple[str, str]


def write(before: Diagnosis, after: Diagnosis, names: Tuple[str, str], path: Path) -> int:
    """Writes the comparison as a file of HTML; returns its size in bytes. ``names``: what the two are called.

    Raises:
        UserError: where it cannot be written.
    """
    content = html(before, after, names).encode("utf-8", "backslashreplace")
    with new_file(path, "the report") as file:
        file.write(content)
    return len(content)


def html(before: Diagnosis, after: Diagnosis, names: Tuple[str, str]) -> str:
    """The page."""
    old, new = (json.loads(one.overview()[1]) for one in (before, after))
    parts: Dict[str, Child] = {
        "title": "What changed",
        "about": f"from {names[0]} to {names[1]}",
        "verdicts": [_verdict("Before", before, names[0]), _verdict("After", after, names[1])],
        "findings": _findings(before.findings, after.findings),
        "places": _places(_standing(old), _standing(new)),
        "messages": _messages(old, new),
    }
    return document("comparison.html", "What changed: mpi-queues", parts, scripts=False, mark=False)


def _verdict(when: str, diagnosis: Diagnosis, name: str) -> Element:
    return element(
        "article",
        element("h3", f"{when}: {title(diagnosis)}"),
        element("p", ", ".join(one for one in (name, about(diagnosis)) if one), class_="note"),
        element("p", cause.STATES[diagnosis.state], class_=f"state {diagnosis.state}"),
        element("p", shorten(diagnosis.headline or cause.STATES[diagnosis.state], 2000), class_="headline"),
    )


def _findings(before: Sequence[Finding], after: Sequence[Finding]) -> Element:
    """Which are gone, which are there still, which are new: the same kind at the same calls is the same finding."""
    old, new = ({_key(finding): finding for finding in some} for some in (before, after))
    rows: List[Tuple[str, Finding]] = [("gone", old[key]) for key in old if key not in new]
    rows += [("new", new[key]) for key in new if key not in old]
    rows += [("still there", new[key]) for key in new if key in old]
    if not rows:
        return element("p", "Nothing wrong was found in either.")
    return _table(
        "Findings that are gone, new, or still there",
        ("", "Kind", "Ranks", "What was found"),
        [
            (
                change,
                finding.kind,
                shorten(ranks_named(finding.ranks), 120) if finding.ranks else "",
                shorten(finding.summary, 1000),
            )
            for change, finding in rows[:_MOST]
        ],
        len(rows) - _MOST,
    )


def _key(finding: Finding) -> Tuple[Any, ...]:
    places = {(one.get("function"), one.get("file"), one.get("line")) for one in [*finding.blamed, *finding.calls]}
    return (finding.kind, frozenset(places) or finding.summary)


def _standing(tables: Mapping[str, Any]) -> Dict[int, _Where]:
    """Where each rank stands."""
    strings, ranks = tables["strings"], tables["ranks"]

    def text(place: int) -> str:
        return "" if place < 0 else str(strings[place])

    found: Dict[int, _Where] = {}
    for rank, function, caller, line in zip(ranks["rank"], ranks["function"], ranks["caller"], ranks["line"]):
        if rank is not None:
            place = " at ".join(part for part in (text(caller), text(line).rsplit("/", 1)[-1]) if part)
            found.setdefault(rank, (text(function) or "outside MPI", place))
    return found


def _places(old: Mapping[int, _Where], new: Mapping[int, _Where]) -> List[Element]:
    """Ranks that went from one place to another, those of the same way together."""
    ways: Dict[Tuple[Optional[_Where], Optional[_Where]], List[int]] = {}
    same: List[int] = []
    for rank in sorted({*old, *new}):
        if old.get(rank) == new.get(rank):
            same.append(rank)
        else:
            ways.setdefault((old.get(rank), new.get(rank)), []).append(rank)
    parts: List[Element] = []
    if same:
        parts.append(element("p", f"At the same place: {shorten(ranks_named(same), 200)}."))
    if not ways:
        return parts or [element("p", "Neither has a rank.")]
    ordered = sorted(ways.items(), key=lambda way: -len(way[1]))
    rows = [
        (shorten(ranks_named(ranks), 200), _shown(before), _shown(after)) for (before, after), ranks in ordered[:_MOST]
    ]
    return [*parts, _table("Ranks that stand elsewhere", ("Ranks", "Before", "After"), rows, len(ordered) - _MOST)]


def _shown(place: Optional[_Where]) -> str:
    return "not there" if place is None else shorten(", ".join(part for part in place if part), 300, keep_end=False)


def _messages(old: Mapping[str, Any], new: Mapping[str, Any]) -> Element:
    """How many operations there are, by communicator and queue."""
    before, after = _counts(old), _counts(new)
    changed = [key for key in sorted({*before, *after}) if before[key] != after[key]]
    if not changed:
        count = sum(after.values())
        return element("p", f"The queues are as long as before: {counted(count, 'operation')} of the program in all.")
    rows = [
        (shorten(name or "(no name)", 200), queue, f"{before[name, queue]:,}", f"{after[name, queue]:,}")
        for name, queue in changed[:_MOST]
    ]
    heads = ("Communicator", "Queue", "Before", "After")
    return _table("Operations of the program, where their number changed", heads, rows, len(changed) - _MOST)


def _counts(tables: Mapping[str, Any]) -> Counter[Tuple[str, str]]:
    """Without those that the MPI library has posted for itself."""
    cells, internal, columns = tables["cells"], tables["internal"], tables["columns"]
    found: Counter[Tuple[str, str]] = Counter()
    for queue, name in zip(_QUEUES, ("sends", "receives", "unexpected")):
        for column, count in zip(cells["column"], cells[name]):
            found[columns[column]["name"], queue] += max(0, count)
        for cell, count in zip(internal["cell"], internal[name]):
            found[columns[cells["column"][cell]]["name"], queue] -= count
    return found


def _table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], more: int) -> Element:
    return element(
        "div",
        table(caption, heads, [row(*cells) for cells in rows]),
        element("p", f"{more:,} more rows are left out.", class_="note") if more > 0 else None,
        class_="scroll",
        tabindex=0,
        role="region",
        aria_label=caption,
    )
