"""The cause and all findings: plain HTML, which needs no script."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .._native import Diagnosis, Finding
from ..report import diagnosis as report
from ..report.places import function_name, where
from ..report.words import ranks_named, shorten
from .elements import Element, breakable, element, table
from .graph import MARKS, ROLES, set_of
from .sources import Quoted, quoted

#: Places of the cause whose source is quoted.
_MOST_QUOTED = 4

#: Findings, and of each calls and sentences of evidence; what is left out is counted.
MOST_FINDINGS, _MOST_CALLS, _MOST_EVIDENCE = 200, 24, 30

#: A sentence may name a communicator of any length.
_SENTENCE = 2000

#: What is said of the whole, in a word.
STATES = {
    "deadlock": "deadlock",
    "suspect": "perhaps a deadlock",
    "waiting": "waiting for ranks at work",
    "running": "nobody is stuck",
    "unknown": "not known",
}


def cause(diagnosis: Diagnosis, *, source: bool, text: bool = True) -> List[Element]:
    """The headline, what to do, the calls to blame; with ``source`` their source lines, with ``text`` all as text."""
    first = _first(diagnosis)
    parts: List[Element] = [
        element("p", STATES[diagnosis.state], class_=f"state {diagnosis.state}"),
        element("p", shorten(diagnosis.headline or STATES[diagnosis.state], _SENTENCE), class_="headline"),
    ]
    if first is not None:
        if first.advice and not first.consequence:
            parts.append(element("p", element("strong", "To do: "), shorten(first.advice, _SENTENCE), class_="advice"))
        parts += _blamed(diagnosis, first, source=source)
        waiting = _waiting(first)
        if waiting:
            told = f"{ranks_named(waiting)} {'waits' if len(waiting) == 1 else 'wait'} as a result."
            told = told[:1].upper() + told[1:]
            parts.append(element("p", _mark("held"), told, class_="waiting held", data_ranks=set_of(waiting)))
    limits = diagnosis.limits
    if limits:
        shown = [element("li", shorten(one, _SENTENCE)) for one in limits[:20]]
        more = element("li", f"and {len(limits) - 20:,} more") if len(limits) > 20 else None
        parts.append(
            element(
                "details",
                element("summary", f"Not all is known ({len(limits):,})"),
                element("ul", shown, more),
                class_="limits",
                open=diagnosis.state == "unknown",
            )
        )
    if text:
        parts.append(as_text("as-text", "The diagnosis as text", report.as_text(diagnosis)))
    return parts


def as_text(name: str, what: str, content: str) -> Element:
    """Text as it would stand on a terminal, to be copied."""
    return element(
        "details",
        element("summary", "As text"),
        element("button", "Copy", type="button", data_copy=name, hidden=True),
        element("pre", content, id=name, tabindex=0, aria_label=what),
    )


def findings_table(diagnosis: Diagnosis) -> Element:
    """All findings, with their evidence."""
    findings = diagnosis.findings
    if not findings:
        return element("p", "Nothing wrong was found.")
    rows = [_row(number, finding) for number, finding in enumerate(findings[:MOST_FINDINGS])]
    more = len(findings) - len(rows)
    found = table("Findings, the causes first", ("Kind", "Ranks", "What was found"), rows, "findings rows")
    return element("div", found, element("p", f"{more:,} more are in the data.", class_="note") if more > 0 else None)


def _first(diagnosis: Diagnosis) -> Optional[Finding]:
    findings, place = diagnosis.findings, diagnosis.headline_finding
    return findings[place or 0] if findings else None


def _waiting(finding: Finding) -> List[int]:
    """Who can never go on because of the cause: those that wait in it, some of them among its calls, and others."""
    about = set(finding.ranks)
    calls = [call["rank"] for call in finding.calls if call.get("waits_for") and call.get("rank") is not None]
    return sorted({*finding.waiting, *calls} - about)


@dataclass
class _Place:
    """A call of the cause."""

    call: Mapping[str, Any]
    ranks: List[int]
    where: str
    #: What is said of its ranks, where that is the same of all.
    role: str
    #: Lines around it, if they do not stand at a place before.
    lines: Optional[Quoted] = None
    #: The number of the place that has them.
    above: Optional[int] = None


def _blamed(diagnosis: Diagnosis, finding: Finding, *, source: bool) -> List[Element]:
    """The calls of the cause, each with the lines around it."""
    places = _places(finding)
    if source:
        _quote(diagnosis, places)
    items = [_item(place, number, places) for number, place in enumerate(places, 1)]
    return [element("ol", items, class_="blamed")] if items else []


def _places(finding: Finding) -> List[_Place]:
    """Each call at a place once."""
    called: Sequence[Mapping[str, Any]] = finding.blamed
    if not called:
        called = [{**call, "ranks": [call["rank"]] if call.get("rank") is not None else []} for call in finding.calls]
    about, waiting = set(finding.ranks), set(_waiting(finding))
    found: Dict[Tuple[Any, str], _Place] = {}
    for one in called:
        place = where(one, full=True)
        if len(found) < _MOST_CALLS:
            ranks: List[int] = list(one.get("ranks") or [])
            role = "cause" if about.issuperset(ranks) else "held" if waiting.issuperset(ranks) else ""
            found.setdefault((one.get("function"), place), _Place(one, ranks, place, role if ranks else ""))
    return list(found.values())


def _quote(diagnosis: Diagnosis, places: Sequence[_Place]) -> None:
    """Gives the first of them their lines. Those that have lines in common have them together, at the first."""
    quotations = 0
    for number, place in enumerate(places):
        if quotations >= _MOST_QUOTED:
            break
        lines = quoted(place.call, *_process(diagnosis, place.ranks))
        for earlier, other in enumerate(places[:number]):
            both = other.lines.joined(lines) if lines is not None and other.lines is not None else None
            if both is not None:
                other.lines, place.above = both, earlier + 1
                break
        else:
            place.lines = lines
            quotations += lines is not None


def _item(place: _Place, number: int, places: Sequence[_Place]) -> Element:
    roles = {one.call.get("line"): one.role for one in places if one is place or one.above == number}
    sure = "" if place.call.get("certain", True) else "perhaps "
    ranks = f" ({shorten(ranks_named(place.ranks), 200)})" if place.ranks else None
    return element(
        "li",
        element(
            "p",
            _mark(place.role),
            sure,
            element("code", function_name(place.call) or "outside MPI"),
            [" ", breakable(shorten(place.where, 400, keep_end=True))] if place.where else "",
            element("span", ranks, class_="quiet") if ranks else None,
            element("span", f"; see the lines at {place.above}", class_="quiet") if place.above else None,
        ),
        _source(place.lines, where(place.call), roles) if place.lines is not None else None,
        class_=place.role or None,
        data_ranks=set_of(place.ranks),
    )


def _mark(role: str) -> Optional[Element]:
    """What is said of ranks, as a sign that has a name."""
    return element("span", MARKS[role], class_="mark", role="img", aria_label=ROLES[role]) if role else None


def _process(diagnosis: Diagnosis, ranks: Sequence[int]) -> Tuple[Optional[str], Optional[int]]:
    """The program of a rank, and its process id where it is a live process of this machine."""
    try:
        process = diagnosis.snapshot.rank(ranks[0]) if ranks else None
    except KeyError:
        process = None
    if process is None:
        return None, None
    live = (process.source or {}).get("via") in ("native", "gdb", "lldb") and process.host in (
        None,
        socket.gethostname(),
    )
    return process.executable, process.pid if live else None


def _source(lines: Quoted, what: str, roles: Mapping[Optional[int], str]) -> Element:
    rows = []
    for number, line in enumerate(lines.lines, lines.first):
        meant = number in lines.meant
        rows.append(
            element(
                "span",
                element("span", f"{number:6} ", class_="number"),
                element("mark", line, class_=roles.get(number) or None) if meant else line,
                "\n",
                class_="meant" if meant else None,
            )
        )
    return element("pre", rows, class_="source", tabindex=0, aria_label=f"Source lines: {what}")


def _row(number: int, finding: Finding) -> Element:
    evidence = finding.evidence
    calls = finding.calls
    sentences = [element("li", shorten(one, _SENTENCE)) for one in evidence[:_MOST_EVIDENCE]]
    places = [element("li", _call(call)) for call in calls[:_MOST_CALLS]]
    more = len(calls) - len(places)
    inside: List[Element] = []
    if places:
        left = element("li", f"and {more:,} more") if more > 0 else None
        inside += [element("p", "Where they stand:"), element("ul", places, left)]
    if sentences:
        inside += [element("p", "Evidence:"), element("ul", sentences)]
    if finding.advice:
        inside.append(element("p", element("strong", "To do: "), shorten(finding.advice, _SENTENCE)))
    kind = finding.kind + ("" if finding.certain else " (possible)")
    return element(
        "tr",
        element(
            "td", kind, element("br") if finding.consequence else None, "in consequence" if finding.consequence else ""
        ),
        element("td", shorten(ranks_named(finding.ranks), 120) if finding.ranks else ""),
        element(
            "td",
            element("p", shorten(finding.summary, _SENTENCE)),
            element("details", element("summary", "Calls and evidence"), inside) if inside else None,
        ),
        id=f"finding-{number}",
        data_ranks=set_of(finding.ranks),
    )


def _call(call: Mapping[str, Any]) -> List[Any]:
    rank = call.get("rank")
    place = where(call, full=True)
    return [
        "a process: " if rank is None else f"rank {rank}: ",
        element("code", function_name(call) or "outside MPI"),
        [" ", breakable(shorten(place, 400, keep_end=True))] if place else "",
        f", waits for {shorten(str(call['waits_for']), 400)}" if call.get("waits_for") else "",
    ]
