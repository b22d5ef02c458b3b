"""Why a job is stuck, as text that fits a screen: what is wrong, who waits for whom and where, what limits it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Set, Tuple

from .._native import Diagnosis, Finding, Process, Snapshot
from .places import Place, call_text, of_process, where
from .words import WIDTH, clean, columns, counted, listed, pad, ranks, shorten, wrapped

Write = Callable[[str], object]

#: Lines of a text for a screen; with ``verbose`` the second of each.
_ROWS, _FURTHER, _LIMITS = (8, 400), (5, 200), (4, 400)
#: A sentence that was made from what a job says may be of any length.
_SENTENCE = (500, 20_000)

#: What is said of the whole where the sentence is missing, as in a file that another program wrote.
_STATES = {
    "deadlock": "Deadlock: some ranks can never go on.",
    "suspect": "Perhaps a deadlock: it is not certain that all ranks can go on.",
    "waiting": "No deadlock: ranks wait for others that are at work.",
    "running": "No deadlock: nobody waits for long.",
    "unknown": "Not enough could be read to say whether it is stuck.",
}


@dataclass
class Options:
    """How a diagnosis is shown."""

    #: Columns of the terminal.
    width: int = WIDTH
    #: Also the evidence, all calls, and how each rank moved.
    verbose: bool = False
    #: What to type for that; empty where there is nothing to type.
    more: str = ""
    #: What to type to see the queues of a rank; None where there is no such thing.
    queues_of: Optional[Callable[[int], str]] = None
    #: What to type to read the other ranks of the job; told where some were not read.
    others: str = ""
    #: What to do for a second look; told where one look is not enough.
    again: str = ""
    #: When the earlier look was, such as ``since the last look, 12 s ago``.
    since: str = ""
    #: Emphasis on a terminal, as in ``report.text.Options``; ``headline`` and ``deadlock``, too.
    style: Callable[[str, str], str] = lambda kind, text: text

    def of(self, pair: Tuple[int, int]) -> int:
        """The second number where all is wanted."""
        return pair[self.verbose]


def as_text(diagnosis: Diagnosis) -> str:
    """All of it, in the usual width."""
    pieces: List[str] = []
    write_diagnosis(diagnosis, pieces.append, Options())
    return "".join(pieces).rstrip("\n")


def write_diagnosis(diagnosis: Diagnosis, write: Write, options: Options) -> None:
    """The headline, the findings with their places, how ranks moved, what limits it, what to type next."""
    state = diagnosis.state
    headline = _cut(diagnosis.headline or _STATES[state], options)
    kind = "deadlock" if state in ("deadlock", "suspect") else "headline"
    write(options.style(kind, wrapped(headline, "", width=options.width).rstrip("\n")) + "\n")
    findings, told = _ordered(diagnosis)
    shown: Set[Tuple[Any, ...]] = set()
    count = options.of(_FURTHER) + 1
    for number, finding in enumerate(findings[:count]):
        write("\n")
        _write_finding((finding, diagnosis.snapshot), number, told and number == 0, shown, write, options)
    if len(findings) > count:
        write("\n")
        _write_more(f"… and {counted(len(findings) - count, 'more finding')}", write, options)
    above = findings[:count]
    standing = {call.get("rank") for one in above for call in one.calls}
    elided = {rank for one in above if one.calls for rank in one.ranks}
    _write_places(diagnosis.snapshot, {rank for rank in standing | elided if rank is not None}, write, options)
    _write_movement(diagnosis, write, options)
    _write_worlds(diagnosis.snapshot, write, options)
    _write_limits(diagnosis, write, options)
    _write_next(diagnosis, write, options)


def _ordered(diagnosis: Diagnosis) -> Tuple[List[Finding], bool]:
    """The finding that the headline tells first, so that its calls stand below it; and whether there is one."""
    findings, place = diagnosis.findings, diagnosis.headline_finding
    if place is None:
        return findings, False
    return [findings[place], *findings[:place], *findings[place + 1 :]], True


def _write_finding(
    found: Tuple[Finding, Snapshot],
    number: int,
    told: bool,
    shown: Set[Tuple[Any, ...]],
    write: Write,
    options: Options,
) -> None:
    """A finding; of one that the headline has ``told`` the calls only."""
    finding, snapshot = found
    calls = finding.calls
    if not told:
        title = finding.kind if finding.certain else f"{finding.kind} (possible)"
        write(wrapped(f"{title}: {_cut(finding.summary, options)}", "", "  ", width=options.width))
    # What stood under an earlier finding need not be told again.
    new = [call for call in calls if options.verbose or (_key(call)[:1] + _key(call)[2:5]) not in shown]
    shown.update(_key(call)[:1] + _key(call)[2:5] for call in calls)
    limit = options.of(_ROWS) if number == 0 or options.verbose else 3
    rows = _grouped(new)
    _write_rows([_row(call, who, snapshot, options) for call, who in rows[:limit]], write, options)
    _write_elided(finding, calls, rows[limit:], write, options)
    if not options.verbose:
        return
    for sentence in finding.evidence:
        write(wrapped(_cut(sentence, options), "  - ", "    ", width=options.width))
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
        _write_more(f"  … and {_ranks(missing)}", write, options)


def _write_more(what: str, write: Write, options: Options) -> None:
    """What was left out, and what to type to see it."""
    indent = " " * (len(what) - len(what.lstrip()))
    hint = f" (to see all: {options.more})" if options.more and not options.verbose else ""
    write(wrapped(what + hint, indent, indent + "  ", width=options.width))


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


def _ranks(members: Sequence[int]) -> str:
    different = sorted(set(members))
    return f"rank{'' if len(different) == 1 else 's'} {ranks(different)}"


@dataclass
class _Row:
    who: str
    call: str
    where: str
    waits: str
    #: In full, for those who want to see all; may be empty.
    full: str = ""


def _row(call: Mapping[str, Any], who: Sequence[int], snapshot: Snapshot, options: Options) -> _Row:
    waits = clean(str(call.get("waits_for") or ""))
    function = clean(str(call.get("function") or ""))
    text = call_text(call, _process(snapshot, call.get("rank")))
    full = text if options.verbose and function else ""
    return _Row(
        _ranks(who) if who else "a process",
        (function if waits or options.verbose else text) or "outside MPI",
        where(call, full=options.verbose),
        f"waits for {waits}" if waits else "",
        full if full != function else "",
    )


def _process(snapshot: Snapshot, rank: Optional[int]) -> Optional[Process]:
    try:
        return None if rank is None else snapshot.rank(rank)
    except KeyError:
        return None


def _write_rows(rows: Sequence[_Row], write: Write, options: Options) -> None:
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
        if row.full:
            write(wrapped(row.full, "      ", "        ", width=width))


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
    rows = [_Row(_ranks(members), place.call, place.where, "") for place, members in groups.items()]
    rows += [_Row(counted(count, "process"), place.call, place.where, "") for place, count in nameless.items()]
    if not rows:
        return
    limit = 4 if told and not options.verbose else options.of(_ROWS)
    write("\nThe other ranks:\n" if told else "\nWhere they are:\n")
    _write_rows(rows[:limit], write, options)
    if len(rows) > limit:
        _write_more(f"  … and {counted(len(rows) - limit, 'more place')}", write, options)


_MOVED = {
    "stuck": "did not move",
    "slow": "at the same place, and something moved",
    "spinning": "goes in and out of MPI and gets nowhere",
    "moved": "went on",
    "unknown": "not known",
}


def _write_movement(diagnosis: Diagnosis, write: Write, options: Options) -> None:
    """How ranks moved between two looks, those that moved alike together."""
    movement = diagnosis.movement
    if not movement:
        return
    interval = diagnosis.interval_ms
    between = options.since or ("between the two looks" + (f", {seconds(interval)} apart" if interval else ""))
    groups: Dict[Tuple[str, str], List[int]] = {}
    for entry in movement:
        how = "; ".join(str(sentence) for sentence in (entry.get("how") or [])[: 20 if options.verbose else 1])
        state = str(entry.get("state") or "unknown")
        rank = entry.get("rank")
        groups.setdefault((state, how), []).extend([] if rank is None else [rank])
    write("\n")
    write(wrapped(f"{between[:1].upper()}{between[1:]}:", "", "  ", width=options.width))
    rows = list(groups.items())
    limit = options.of(_ROWS)
    left = max(columns(_ranks(who)) if who else 9 for _, who in rows[:limit])
    for (state, how), who in rows[:limit]:
        head = "  " + pad(_ranks(who) if who else "a process", min(left, options.width // 3)) + "  "
        text = _cut(f"{state}: {how or _MOVED.get(state, state)}", options)
        indent = " " * columns(head)
        if columns(head) > options.width // 2:
            head, indent = f"{head.rstrip()}  ", "      "
        write(head + wrapped(text, indent, width=options.width)[len(indent) :])
    if len(rows) > limit:
        _write_more(f"  … and {counted(len(rows) - limit, 'more line')}", write, options)


def _write_worlds(snapshot: Snapshot, write: Write, options: Options) -> None:
    """How the ranks of several worlds are numbered here."""
    parts = []
    for world in snapshot.worlds:
        first, size = world.get("first"), world.get("size")
        if first is not None and size:
            last = first + size - 1
            parts.append(f"{first}{f'-{last}' if last > first else ''} of world {world['number']}")
    if len(parts) > 1:
        text = f"Ranks are numbered through all worlds: {listed(parts, 8)}."
        write("\n" + wrapped(text, "", "  ", width=options.width))


def _write_limits(diagnosis: Diagnosis, write: Write, options: Options) -> None:
    """What is not known, and what "possible" means where it was said."""
    limits = diagnosis.limits
    shown = limits[: options.of(_LIMITS)]
    possible = not all(finding.certain for finding in diagnosis.findings)
    if shown or possible:
        write("\n")
    if shown:
        sentences = " ".join(_cut(sentence, options).rstrip(".") + "." for sentence in shown)
        style = options.style(
            "problem", wrapped(f"Not all is known. {sentences}", "", width=options.width).rstrip("\n")
        )
        write(style + "\n")
    if len(limits) > len(shown):
        _write_more(f"… and {len(limits) - len(shown):,} more that limit it", write, options)
    if possible:
        see = f"; for what is not known, type: {options.more}" if options.more and not options.verbose else ""
        text = f"Possible: it fits what was read, which does not prove it{see}."
        write(wrapped(text, "", "  ", width=options.width))


def _write_next(diagnosis: Diagnosis, write: Write, options: Options) -> None:
    """What to do, and what to type."""
    findings = diagnosis.findings
    lines = []
    if not options.verbose:
        advice = next((finding.advice for finding in findings if finding.advice), None)
        if advice:
            lines.append(f"To do: {_cut(advice, options)}")
    concerned = next((finding.ranks for finding in findings if finding.ranks), [])
    if concerned and options.queues_of is not None:
        lines.append(f"The queues of rank {concerned[0]}: {options.queues_of(concerned[0])}")
    if findings and options.more and not options.verbose:
        lines.append(f"The evidence: {options.more}")
    one_look = diagnosis.interval_ms is None and not diagnosis.movement
    if options.again and one_look and not all(finding.certain for finding in findings):
        lines.append(f"A second look may tell more: {options.again}")
    processes = diagnosis.snapshot.processes
    size = max((process.world_size or 0 for process in processes), default=0)
    if options.others and len(processes) < size:
        lines.append(f"{len(processes)} of {size:,} ranks were read; to read all: {options.others}")
    if lines:
        write("\n")
    for line in lines:
        write(wrapped(line, "", "  ", width=options.width))


def seconds(milliseconds: float) -> str:
    """A time as people say it."""
    if milliseconds < 10_000:
        return f"{milliseconds / 1000:.1f} s"
    if milliseconds < 120_000:
        return f"{milliseconds / 1000:.0f} s"
    return f"{milliseconds / 60_000:.0f} min"


def _cut(sentence: str, options: Options) -> str:
    return shorten(sentence, options.of(_SENTENCE))
