"""The cause and all findings: plain HTML, which needs no script."""

from __future__ import annotations

import socket
from typing import Any, List, Mapping, Optional, Sequence, Tuple

from .._native import Diagnosis, Finding
from ..report import diagnosis as report
from ..report.places import where
from ..report.words import clean, ranks_named, shorten
from .elements import Element, element, table
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
            parts.append(element("p", told, class_="waiting"))
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
    found = table("Findings, the causes first", ("Kind", "Ranks", "What was found"), rows, "findings")
    return element("div", found, element("p", f"{more:,} more are in the data.", class_="note") if more > 0 else None)


def _first(diagnosis: Diagnosis) -> Optional[Finding]:
    findings, place = diagnosis.findings, diagnosis.headline_finding
    return findings[place or 0] if findings else None


def _waiting(finding: Finding) -> List[int]:
    """Who can never go on because of the cause: those that wait in it, some of them among its calls, and others."""
    about = set(finding.ranks)
    calls = [call["rank"] for call in finding.calls if call.get("waits_for") and call.get("rank") is not None]
    return sorted({*finding.waiting, *calls} - about)


def _blamed(diagnosis: Diagnosis, finding: Finding, *, source: bool) -> List[Element]:
    """The calls of the cause, each with the lines around it."""
    called: Sequence[Mapping[str, Any]] = finding.blamed
    if not called:
        called = [{**call, "ranks": [call["rank"]] if call.get("rank") is not None else []} for call in finding.calls]
    items: List[Element] = []
    told = set()
    quotations = 0
    for one in called:
        place = where(one, full=True)
        key = (one.get("function"), place)
        if key in told or len(items) >= _MOST_CALLS:
            continue
        told.add(key)
        ranks: List[int] = list(one.get("ranks") or [])
        lines = None
        if source and quotations < _MOST_QUOTED:
            lines = quoted(one, *_process(diagnosis, ranks))
            quotations += lines is not None
        sure = "" if one.get("certain", True) else "perhaps "
        items.append(
            element(
                "li",
                element(
                    "p",
                    sure,
                    element("code", clean(str(one.get("function") or "")) or "outside MPI"),
                    f" {shorten(place, 400, keep_end=True)}" if place else "",
                    element("span", f" ({shorten(ranks_named(ranks), 200)})", class_="quiet") if ranks else None,
                ),
                _source(lines, where(one)) if lines is not None else None,
            )
        )
    return [element("ol", items, class_="blamed")] if items else []


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


def _source(lines: Quoted, what: str) -> Element:
    rows = []
    for number, line in enumerate(lines.lines, lines.first):
        meant = number == lines.meant
        rows.append(
            element(
                "span",
                element("span", f"{number:6} ", class_="number"),
                element("mark", line) if meant else line,
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
    )


def _call(call: Mapping[str, Any]) -> List[Any]:
    rank = call.get("rank")
    place = where(call, full=True)
    return [
        "a process: " if rank is None else f"rank {rank}: ",
        element("code", clean(str(call.get("function") or "")) or "outside MPI"),
        f" {shorten(place, 400, keep_end=True)}" if place else "",
        f", waits for {shorten(str(call['waits_for']), 400)}" if call.get("waits_for") else "",
    ]
