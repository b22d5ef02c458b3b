"""What stands below the findings: how ranks moved between two looks, what is not known, what to type next."""

from __future__ import annotations

from typing import Dict, List, Tuple

from .._native import Diagnosis, Snapshot
from .diagnosis_options import LIMITS, ROWS, Options, Write, cut, write_more
from .words import columns, counted, listed, pad, ranks_named, wrapped

_MOVED = {
    "stuck": "did not move",
    "slow": "at the same place, and something moved",
    "spinning": "goes in and out of MPI and gets nowhere",
    "moved": "went on",
    "unknown": "not known",
}


def write_movement(diagnosis: Diagnosis, write: Write, options: Options) -> None:
    """How ranks moved between two looks, those that moved alike together."""
    movement = diagnosis.moved_alike()
    if not movement:
        return
    interval = diagnosis.interval_ms
    between = options.since or ("between the two looks" + (f", {seconds(interval)} apart" if interval else ""))
    groups: Dict[Tuple[str, str], List[int]] = {}
    for state, sentences, ranks in movement:
        how = "; ".join(sentences[: 20 if options.verbose else 1])
        groups.setdefault((state, how), []).extend(ranks)
    write("\n")
    write(wrapped(f"{between[:1].upper()}{between[1:]}:", "", "  ", width=options.width))
    rows = list(groups.items())
    limit = options.of(ROWS)
    left = max(columns(ranks_named(who)) if who else 9 for _, who in rows[:limit])
    for (state, how), who in rows[:limit]:
        head = "  " + pad(ranks_named(who) if who else "a process", min(left, options.width // 3)) + "  "
        text = cut(f"{state}: {how or _MOVED.get(state, state)}", options)
        indent = " " * columns(head)
        if columns(head) > options.width // 2:
            head, indent = f"{head.rstrip()}  ", "      "
        write(head + wrapped(text, indent, width=options.width)[len(indent) :])
    if len(rows) > limit:
        write_more(f"  … and {counted(len(rows) - limit, 'more line')}", write, options)


def write_worlds(snapshot: Snapshot, write: Write, options: Options) -> None:
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


def write_limits(diagnosis: Diagnosis, write: Write, options: Options) -> None:
    """What is not known, and what "possible" means where it was said."""
    limits = diagnosis.limits
    shown = limits[: options.of(LIMITS)]
    possible = not all(finding.certain for finding in diagnosis.findings)
    if shown or possible:
        write("\n")
    if shown:
        sentences = " ".join(cut(sentence, options).rstrip(".") + "." for sentence in shown)
        style = options.style(
            "problem", wrapped(f"Not all is known. {sentences}", "", width=options.width).rstrip("\n")
        )
        write(style + "\n")
    if len(limits) > len(shown):
        write_more(f"… and {len(limits) - len(shown):,} more limits", write, options)
    if possible:
        see = f"; for what is not known, type: {options.more}" if options.more and not options.verbose else ""
        text = f"Possible: it fits what was read, which does not prove it{see}."
        write(wrapped(text, "", "  ", width=options.width))


def write_unread(diagnosis: Diagnosis, write: Write, options: Options) -> None:
    """How many of the ranks were read, where that is not all, and what to type to read them all."""
    count, size = diagnosis.snapshot.extent()
    if options.others and count < (size or 0):
        were = "was" if count == 1 else "were"
        line = f"{count:,} of {size:,} ranks {were} read; to read all: {options.others}"
        write(wrapped(line, "", "  ", width=options.width))


def write_next(diagnosis: Diagnosis, write: Write, options: Options) -> None:
    """What to do, and what to type."""
    findings = diagnosis.findings
    lines = []
    concerned = next((finding.ranks[0] for finding in findings if finding.ranks), None)
    if concerned is not None and options.queues_of is not None and _has_queues(diagnosis.snapshot, concerned):
        lines.append(f"The queues of rank {concerned}: {options.queues_of(concerned)}")
    if findings and options.more and not options.verbose:
        lines.append(f"The evidence: {options.more}")
    one_look = diagnosis.interval_ms is None and not diagnosis.moved_alike()
    if options.again and one_look and not all(finding.certain for finding in findings):
        lines.append(f"A second look may tell more: {options.again}")
    if lines:
        write("\n")
    for line in lines:
        write(wrapped(line, "", "  ", width=options.width))


def _has_queues(snapshot: Snapshot, rank: int) -> bool:
    try:
        return snapshot.rank(rank).stage != "not_initialized"
    except LookupError:
        # Several worlds have it.
        return True


def seconds(milliseconds: float) -> str:
    """A time as people say it."""
    if milliseconds < 10_000:
        return f"{milliseconds / 1000:.1f} s"
    if milliseconds < 120_000:
        return f"{milliseconds / 1000:.0f} s"
    return f"{milliseconds / 60_000:.0f} min"
