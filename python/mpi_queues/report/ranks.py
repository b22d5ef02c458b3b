"""A job for people, as a table of its ranks, and for programs."""

from __future__ import annotations

import re
import time
from typing import Any, Callable, Dict, List, Mapping, Match, Optional, Tuple

from ..launchers.model import Job, RankEntry, World
from .words import WIDTH, clean, columns, counted, pad, ranks, shorten, wrapped

Write = Callable[[str], object]
Style = Callable[[str, str], str]


def plain(kind: str, text: str) -> str:
    """No emphasis."""
    return text


def write_job(
    job: Job, write: Write, style: Style = plain, held: Optional[Tuple[str, Mapping[int, str]]] = None
) -> None:
    """The launcher, a table of the ranks, where the facts come from, and what is wrong.

    ``held`` adds a column: its title, and what has each process by its id.
    """
    worlds = f" in {len(job.worlds)} worlds" if len(job.worlds) > 1 else ""
    pid = f", pid {job.pid}" if job.pid else ""
    title = f"{clean(job.launcher)}{pid} on {clean(job.host)}: {counted(len(job.ranks), 'rank')}{worlds}"
    write(style("process", shorten(title, WIDTH)) + "\n\n")
    several = len(job.worlds) > 1
    shown = [_cells(entry) for entry in job.ranks]
    titles = ["rank", "world", "pid", "host", "state", "executable"]
    if not several:
        titles = [title for title in titles if title != "world"]
        shown = [row[:1] + row[2:] for row in shown]
    if held is not None:
        titles.insert(-1, held[0])
        for row, entry in zip(shown, job.ranks):
            row.insert(-1, held[1].get(entry.pid or 0, "-"))
    widths = [max(columns(row[at]) for row in [titles, *shown]) for at in range(len(titles) - 1)]
    host = titles.index("host")
    widths[host] = min(widths[host], 30)
    for row in [titles, *shown]:
        cells = [pad(shorten(cell, width), width) for cell, width in zip(row, widths)]
        line = "  " + "  ".join(cells) + "  "
        write((line + shorten(row[-1], max(8, WIDTH - columns(line)), keep_end=True)).rstrip() + "\n")
    write("\n")
    if several:
        for world in job.worlds:
            write(wrapped(_world(world), "  ", "    "))
    for text, of in _origins(job).items():
        write(wrapped(f"{of}: {text}", "  ", "    "))
    for note in job.notes:
        write(wrapped(f"Note: {note}", "  ", "    "))
    problems = [f"{of}: {text}" for text, of in _together(job, lambda entry: entry.problem).items()]
    for problem in [*problems, *job.problems]:
        write(
            style("problem", wrapped(f"Problem, {problem}" if problem in problems else f"Problem: {problem}", "", "  "))
        )


def _cells(entry: RankEntry) -> List[str]:
    return [
        "?" if entry.rank is None else str(entry.rank),
        str(entry.world),
        "?" if entry.pid is None else str(entry.pid),
        clean(entry.host or "?"),
        clean(entry.state),
        clean(entry.executable or "?"),
    ]


def _world(world: World) -> str:
    size = "of a size that is not known" if world.size is None else f"of {counted(world.size, 'process')}"
    parts = [f"World {world.number}, {size}"]
    if world.name is not None:
        parts.append(f"called {clean(world.name)}")
    if world.parent is not None:
        parts.append(f"spawned by world {world.parent}")
    if world.note is not None:
        parts.append(world.note)
    return ", ".join(parts)


def _origins(job: Job) -> Dict[str, str]:
    # Each rank has been started through a process of its own; which one, the JSON tells.
    return _together(job, lambda entry: f"known from {_STARTED.sub(_name, entry.origin)}")


_STARTED = re.compile(r"\bpid \d+ \(([^()]*)\)")


def _name(match: Match[str]) -> str:
    return match[1]


def _together(job: Job, fact: Callable[[RankEntry], Optional[str]]) -> Dict[str, str]:
    """What is the same of several ranks, once: the text and whose it is."""
    found: Dict[str, List[RankEntry]] = {}
    for entry in job.ranks:
        text = fact(entry)
        if text is not None:
            found.setdefault(text, []).append(entry)
    return {text: _named(entries, job) for text, entries in found.items()}


def _named(entries: List[RankEntry], job: Job) -> str:
    if len(entries) == 1:
        return entries[0].name
    if len(entries) == len(job.ranks):
        return "all ranks"
    worlds: Dict[int, List[Optional[int]]] = {}
    for entry in entries:
        worlds.setdefault(entry.world, []).append(entry.rank)
    parts = [f"{ranks(of)}{f' of world {world}' if world else ''}" for world, of in worlds.items()]
    return f"ranks {' and '.join(parts)}"


def job_json(job: Job) -> Dict[str, Any]:
    """The same for programs (``mpi-queues ranks --format json``)."""
    sizes = {world.number: world.size for world in job.worlds}
    return {
        "schema": "mpi-queues/1",
        "captured_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "job": {
            "pid": job.pid or None,
            "launcher": job.launcher,
            "host": job.host,
            "worlds": [
                {
                    "number": world.number,
                    "name": world.name,
                    "size": world.size,
                    "first_universe_rank": world.first,
                    "parent": world.parent,
                    "note": world.note,
                }
                for world in job.worlds
            ],
            "notes": job.notes,
        },
        "processes": [
            {
                "rank": entry.rank,
                "world": entry.world,
                "world_size": sizes.get(entry.world),
                "universe_rank": job.universe_index(entry),
                "pid": entry.pid,
                "host": entry.host,
                "executable": entry.executable,
                "state": entry.state,
                "origin": entry.origin,
                "problem": entry.problem,
            }
            for entry in job.ranks
        ],
        "problems": job.problems,
    }
