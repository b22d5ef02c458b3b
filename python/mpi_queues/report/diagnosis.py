"""Why a job is stuck, as text that fits a screen: what is wrong, who waits for whom and where, what limits it."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Mapping, Sequence, Set, Tuple

from .._native import Diagnosis, Finding, Snapshot
from .diagnosis_ends import seconds, write_limits, write_movement, write_next, write_unread, write_worlds
from .diagnosis_options import FURTHER, ROWS, Options, Write, cut, write_more
from .diagnosis_places import process_of, write_others, write_waiting
from .diagnosis_rows import Row, at_one_place, write_rows
from .exceptions import write_exceptions
from .places import call_text, function_name, told_of, where
from .started import started, started_lines, starting_places
from .words import clean, counted, ranks_named, wrapped

#: What is said of the whole where the sentence is missing, as in a file that another program wrote.
_STATES = {
    "deadlock": "Deadlock: some ranks can never go on.",
    "suspect": "Perhaps a deadlock: it is not certain that all ranks can go on.",
    "waiting": "Ranks wait for others that are at work.",
    "running": "Nobody waits for long.",
    "unknown": "Not enough could be read to say whether it is stuck.",
}


#: Here each rank waits for the next one of the library's tree, which is no cause: ranks at one place are one line.
_IN_COLLECTIVES = ("collective mismatch", "communicator mismatch", "missing in collective", "root mismatch")


#: Also what it is called with.
__all__ = ["Options", "as_text", "seconds", "write_diagnosis"]


def as_text(diagnosis: Diagnosis) -> str:
    """All of it, in the usual width."""
    pieces: List[str] = []
    write_diagnosis(diagnosis, pieces.append, Options())
    return "".join(pieces).rstrip("\n")


def write_diagnosis(diagnosis: Diagnosis, write: Write, options: Options) -> None:
    """The headline, the findings with their places, how ranks moved, what limits it, what to type next."""
    state = diagnosis.state
    headline = cut(diagnosis.headline or _STATES[state], options)
    kind = "deadlock" if state in ("deadlock", "suspect") else "headline"
    # Whoever reads one rank of many should know it before they believe the rest.
    write_unread(diagnosis, write, options)
    write(options.style(kind, wrapped(headline, "", "  ", width=options.width).rstrip("\n")) + "\n")
    ordered, told = _ordered(diagnosis)
    # What follows from the cause, which stands first, is told by the number of those that wait.
    findings = [one for one in ordered if options.verbose or not one.consequence]
    shown: Set[Tuple[Any, ...]] = set()
    count = options.of(FURTHER) + 1
    # Each is made of the whole JSON when it is asked for: once.
    above = [(finding, finding.calls) for finding in findings[:count]]
    for number, (finding, calls) in enumerate(above):
        write("\n")
        place = (number, told and number == 0)
        _write_finding(finding, calls, diagnosis.snapshot, place, shown, write, options)
    if len(findings) > count:
        write("\n")
        write_more(f"… and {counted(len(findings) - count, 'more finding')}", write, options)
    standing = {call.get("rank") for _, calls in above for call in calls}
    elided = {rank for one, calls in above if calls for rank in one.ranks}
    known = {rank for rank in standing | elided if rank is not None}
    waiting = set(findings[0].waiting) - known if above else set()
    write_waiting(diagnosis.snapshot, waiting, write, options)
    write_others(diagnosis.snapshot, known | waiting, write, options)
    write_exceptions(diagnosis.snapshot, [told for one, _ in above for told in one.exceptions], write, options)
    write_movement(diagnosis, write, options)
    write_worlds(diagnosis.snapshot, write, options)
    write_limits(diagnosis, write, options)
    write_next(diagnosis, write, options)


def _ordered(diagnosis: Diagnosis) -> Tuple[List[Finding], bool]:
    """The finding that the headline tells first, so that its calls stand below it; and whether there is one."""
    findings, place = diagnosis.findings, diagnosis.headline_finding
    if place is None:
        return findings, False
    return [findings[place], *findings[:place], *findings[place + 1 :]], True


def _write_finding(
    finding: Finding,
    calls: Sequence[Mapping[str, Any]],
    snapshot: Snapshot,
    place: Tuple[int, bool],
    shown: Set[Tuple[Any, ...]],
    write: Write,
    options: Options,
) -> None:
    """A finding; ``place``: its number, and whether the headline has told it."""
    number, told = place
    if not told:
        title = finding.kind if finding.certain else f"{finding.kind} (possible)"
        if finding.consequence:
            title = f"in consequence, {title}"
        write(wrapped(f"{title}: {cut(finding.summary, options)}", "", "  ", width=options.width))
    # What stood under an earlier finding need not be told again.
    new = [call for call in calls if options.verbose or (_key(call)[:1] + _key(call)[2:5]) not in shown]
    shown.update(_key(call)[:1] + _key(call)[2:5] for call in calls)
    limit = options.of(ROWS) if number == 0 or options.verbose else 3
    groups = _grouped(new, snapshot, by_place=finding.kind in _IN_COLLECTIVES and not options.verbose)
    rows = at_one_place([_row(call, who, snapshot, options) for call, who in groups], limit, options)
    write_rows(rows[:limit], write, options)
    _write_elided(finding, calls, rows[limit:], write, options)
    for line in started_lines(finding.started_by, calls, full=options.verbose):
        write(wrapped(line, "  ", "      ", width=options.width))
    for sentence in finding.evidence if options.verbose else ():
        write(wrapped(cut(sentence, options), "  - ", "    ", width=options.width))
    if finding.advice and not finding.consequence:
        write(wrapped(f"To do: {cut(finding.advice, options)}", "  ", "    ", width=options.width))


def _write_elided(
    finding: Finding, calls: Sequence[Mapping[str, Any]], left_out: Sequence[Row], write: Write, options: Options
) -> None:
    """Which ranks of a finding have no line."""
    told = {call.get("rank") for call in calls}
    missing = sorted({rank for row in left_out for rank in row.ranks} | {r for r in finding.ranks if r not in told})
    if missing and calls:
        write_more(f"  … and {ranks_named(missing)}", write, options)


def _key(call: Mapping[str, Any]) -> Tuple[Any, ...]:
    return tuple(call.get(name) for name in ("rank", "waits_for", "function", "file", "line", "caller", "offset"))


def _grouped(
    calls: Iterable[Mapping[str, Any]], snapshot: Snapshot, *, by_place: bool
) -> List[Tuple[Mapping[str, Any], List[int]]]:
    """Calls at the same place that wait for the same, and for requests that the same calls started, once, with their
    ranks; in the order in which they come.

    ``by_place``: also where they wait for different things, which is not told then.
    """
    found: Dict[Tuple[Any, ...], List[Mapping[str, Any]]] = {}
    for call in calls:
        # Without a rank each is one of its own.
        place = (*_key(call)[2 if by_place else 1 :], *starting_places(call))
        found.setdefault((len(found),) if call.get("rank") is None else place, []).append(call)
    return [
        (_as_one(alike, snapshot), [call["rank"] for call in alike if call.get("rank") is not None])
        for alike in found.values()
    ]


#: So many values of one argument are told of ranks in one line.
_MOST_VALUES = 3


def _as_one(calls: Sequence[Mapping[str, Any]], snapshot: Snapshot) -> Mapping[str, Any]:
    """Calls that are told in one line: what all of them wait for, and the values of their arguments."""
    first = calls[0]
    alike = all(call.get("waits_for") == first.get("waits_for") for call in calls)
    given = [_arguments(call, snapshot) for call in calls]
    arguments = []
    for name in given[0]:
        values = list(dict.fromkeys(one.get(name) for one in given))
        known = [str(value) for value in values if value is not None]
        told = "..." if len(values) > _MOST_VALUES else "/".join(known) if len(known) == len(values) else None
        arguments.append({"name": name, "meaning": told})
    # What is not one value of all is none of the first one's communicator either.
    communicator = first.get("communicator") if len(calls) == 1 else None
    waits_for = first.get("waits_for") if alike else None
    return {**first, "waits_for": waits_for, "arguments": arguments, "communicator": communicator}


def _arguments(call: Mapping[str, Any], snapshot: Snapshot) -> Dict[str, Any]:
    process = process_of(snapshot, call.get("rank"))
    return {one.get("name"): told_of(one, call, process) for one in call.get("arguments") or []}


def _row(call: Mapping[str, Any], who: Sequence[int], snapshot: Snapshot, options: Options) -> Row:
    waits = clean(str(call.get("waits_for") or ""))
    function = function_name(call)
    text = call_text(call, process_of(snapshot, call.get("rank")))
    full = text if options.verbose and function else ""
    return Row(
        ranks_named(who) if who else "a process",
        (function if waits or options.verbose else text) or "outside MPI",
        where(call, full=options.verbose),
        f"waits for {waits}" if waits else "",
        full if full != function else "",
        started(call, full=options.verbose),
        who,
    )
