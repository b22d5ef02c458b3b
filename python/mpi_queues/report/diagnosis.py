"""Why a job is stuck, as text that fits a screen: what is wrong, who waits for whom and where, what limits it."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Set, Tuple

from .._native import Diagnosis, Finding, Process, Snapshot
from .diagnosis_ends import seconds, write_limits, write_movement, write_next, write_worlds
from .diagnosis_options import FURTHER, ROWS, Options, Write, cut, ranks_named, write_more
from .diagnosis_rows import Row, write_rows
from .places import Place, call_text, of_process, where
from .started import started, started_lines
from .words import clean, counted, wrapped

#: What is said of the whole where the sentence is missing, as in a file that another program wrote.
_STATES = {
    "deadlock": "Deadlock: some ranks can never go on.",
    "suspect": "Perhaps a deadlock: it is not certain that all ranks can go on.",
    "waiting": "No deadlock: ranks wait for others that are at work.",
    "running": "No deadlock: nobody waits for long.",
    "unknown": "Not enough could be read to say whether it is stuck.",
}


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
    write(options.style(kind, wrapped(headline, "", "  ", width=options.width).rstrip("\n")) + "\n")
    findings, told = _ordered(diagnosis)
    shown: Set[Tuple[Any, ...]] = set()
    count = options.of(FURTHER) + 1
    for number, finding in enumerate(findings[:count]):
        write("\n")
        first = told and number == 0
        # Ranks that wait for one another because of the cause, which stands above.
        consequence = told and number > 0 and finding.kind == "deadlock" and findings[0].kind != "deadlock"
        _write_finding((finding, diagnosis.snapshot), (number, first, consequence), shown, write, options)
    if len(findings) > count:
        write("\n")
        write_more(f"… and {counted(len(findings) - count, 'more finding')}", write, options)
    above = findings[:count]
    standing = {call.get("rank") for one in above for call in one.calls}
    elided = {rank for one in above if one.calls for rank in one.ranks}
    _write_places(diagnosis.snapshot, {rank for rank in standing | elided if rank is not None}, write, options)
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
    found: Tuple[Finding, Snapshot],
    place: Tuple[int, bool, bool],
    shown: Set[Tuple[Any, ...]],
    write: Write,
    options: Options,
) -> None:
    """A finding; ``place``: its number, whether the headline has told it, and whether it follows from that."""
    finding, snapshot = found
    number, told, consequence = place
    calls = finding.calls
    if not told:
        title = finding.kind if finding.certain else f"{finding.kind} (possible)"
        if consequence:
            title = "in consequence"
        write(wrapped(f"{title}: {cut(finding.summary, options)}", "", "  ", width=options.width))
    # What stood under an earlier finding need not be told again.
    new = [call for call in calls if options.verbose or (_key(call)[:1] + _key(call)[2:5]) not in shown]
    shown.update(_key(call)[:1] + _key(call)[2:5] for call in calls)
    limit = options.of(ROWS) if number == 0 or options.verbose else 3
    rows = _grouped(new)
    write_rows([_row(call, who, snapshot, options) for call, who in rows[:limit]], write, options)
    _write_elided(finding, calls, rows[limit:], write, options)
    for line in started_lines(finding.started_by, calls, full=options.verbose):
        write(wrapped(line, "  ", "      ", width=options.width))
    if not options.verbose:
        return
    for sentence in finding.evidence:
        write(wrapped(cut(sentence, options), "  - ", "    ", width=options.width))
    if finding.advice:
        write(wrapped(f"To do: {finding.advice}", "  ", "    ", width=options.width))


def _write_elided(
    finding: Finding,
    calls: Sequence[Mapping[str, Any]],
    left_out: Sequence[Tuple[Mapping[str, Any], Sequence[int]]],
    write: Write,
    options: Options,
) -> None:
    """Which ranks of a finding have no line."""
    told = {call.get("rank") for call in calls}
    missing = sorted({rank for _, who in left_out for rank in who} | {r for r in finding.ranks if r not in told})
    if missing and calls:
        write_more(f"  … and {ranks_named(missing)}", write, options)


def _key(call: Mapping[str, Any]) -> Tuple[Any, ...]:
    return tuple(call.get(name) for name in ("rank", "waits_for", "function", "file", "line", "caller"))


def _grouped(calls: Iterable[Mapping[str, Any]]) -> List[Tuple[Mapping[str, Any], List[int]]]:
    """Calls at the same place that wait for the same once, with their ranks; in the order in which they come."""
    found: Dict[Tuple[Any, ...], Tuple[Mapping[str, Any], List[int]]] = {}
    for call in calls:
        rank = call.get("rank")
        # Without a rank each is one of its own.
        key = (len(found),) if rank is None else _key(call)[1:]
        found.setdefault(key, (call, []))[1].extend([] if rank is None else [rank])
    return list(found.values())


def _row(call: Mapping[str, Any], who: Sequence[int], snapshot: Snapshot, options: Options) -> Row:
    waits = clean(str(call.get("waits_for") or ""))
    function = clean(str(call.get("function") or ""))
    text = call_text(call, _process(snapshot, call.get("rank")))
    full = text if options.verbose and function else ""
    return Row(
        ranks_named(who) if who else "a process",
        (function if waits or options.verbose else text) or "outside MPI",
        where(call, full=options.verbose),
        f"waits for {waits}" if waits else "",
        full if full != function else "",
        started(call, full=options.verbose),
    )


def _process(snapshot: Snapshot, rank: Optional[int]) -> Optional[Process]:
    try:
        return None if rank is None else snapshot.rank(rank)
    except KeyError:
        return None


def _started_of(snapshot: Snapshot, rank: int, options: Options) -> Sequence[str]:
    """Which calls started the requests that a rank waits for, a line each."""
    process = _process(snapshot, rank)
    calls = process.calls if process is not None else []
    return started(calls[0], full=options.verbose) if calls else ()


def _write_places(snapshot: Snapshot, told: Set[int], write: Write, options: Options) -> None:
    """Where the ranks are that no finding has told, those at one place together."""
    groups: Dict[Place, List[int]] = {}
    nameless: Dict[Place, int] = {}
    several = bool(snapshot.worlds)
    for process in snapshot.processes:
        rank = process.universe_rank if several else process.rank
        if rank in told:
            continue
        place = of_process(process, full=options.verbose)
        if rank is None:
            nameless[place] = nameless.get(place, 0) + 1
        else:
            groups.setdefault(place, []).append(rank)
    firsts = {place: members[0] for place, members in groups.items()}
    rows = [
        Row(ranks_named(members), place.call, place.where, "", "", _started_of(snapshot, firsts[place], options))
        for place, members in groups.items()
    ]
    rows += [Row(counted(count, "process"), place.call, place.where, "") for place, count in nameless.items()]
    if not rows:
        return
    limit = 4 if told and not options.verbose else options.of(ROWS)
    write("\nThe other ranks:\n" if told else "\nWhere they are:\n")
    write_rows(rows[:limit], write, options)
    if len(rows) > limit:
        write_more(f"  … and {counted(len(rows) - limit, 'more place')}", write, options)
