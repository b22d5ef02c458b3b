"""Lists of ranks as people type them: ``all``, ``0,3-5``, ``1:0-2`` (ranks 0 to 2 of world 1)."""

from __future__ import annotations

import re
from typing import Iterable, List, Optional, Set

from ..errors import UsageError
from .model import Job, RankEntry

_PART = re.compile(r"^(?:(\d{1,10}):)?(?:(\d{1,10})(?:-(\d{1,10}))?|(all))$", re.ASCII)
_EXAMPLE = "such as: all, 3, 0,3-5, 1:0-2 (ranks 0 to 2 of world 1) or 1:all"


def parse(text: str, job: Job) -> List[RankEntry]:
    """The processes of a job that a list of ranks names, in the order of the job, each once.

    Raises:
        UsageError: for what is no list, and for ranks that the job does not have.
    """
    if text.strip() == "all":
        return list(job.ranks)
    wanted: Set[RankEntry] = set()
    for part in text.split(","):
        match = _PART.match(part.strip())
        if match is None:
            raise UsageError(f"{_shown(part)} is not a list of ranks", help=_EXAMPLE)
        world = int(match[1] or 0)
        first, last = int(match[2] or 0), int(match[3] or match[2] or 0)
        if last < first:
            raise UsageError(f"{_shown(part)}: {last} is less than {first}", help=_EXAMPLE)
        of_world = [entry for entry in job.ranks if entry.world == world]
        found = [entry for entry in of_world if match[4] or (entry.rank is not None and first <= entry.rank <= last)]
        # Each rank that is named must be there: a wrong number is not to go unnoticed in a range.
        if not found or (not match[4] and len({entry.rank for entry in found}) <= last - first):
            raise UsageError(_missing(job, world, {entry.rank for entry in found}, first, last), help=_EXAMPLE)
        wanted.update(found)
    return [entry for entry in job.ranks if entry in wanted]


def _missing(job: Job, world: int, found: Set[Optional[int]], first: int, last: int) -> str:
    if all(one.number != world for one in job.worlds):
        return f"the job has no world {world}"
    there = [entry.rank for entry in job.ranks if entry.world == world and entry.rank is not None]
    which = next((rank for rank in range(first, last + 1) if rank not in found), first)
    of_world = f" of world {world}" if world else ""
    return f"the job has no rank {which}{of_world}; it has {numbers(there)}"


def numbers(ranks: Iterable[int]) -> str:
    """Ranks for people: ``0-3,7``, of very many ranges some."""
    ranges = _ranges(ranks)
    return (",".join(ranges[:20]) or "none") + (",…" if len(ranges) > 20 else "")


def node_set(ranks: Iterable[int]) -> str:
    """All of them, in the notation of node sets: ``0-3,7``."""
    return ",".join(_ranges(ranks))


def _ranges(ranks: Iterable[int]) -> List[str]:
    ranges: List[List[int]] = []
    for rank in sorted(set(ranks)):
        if ranges and ranges[-1][1] == rank - 1:
            ranges[-1][1] = rank
        else:
            ranges.append([rank, rank])
    return [str(one) if one == two else f"{one}-{two}" for one, two in ranges]


def _shown(text: str) -> str:
    plain = "".join(one if one.isprintable() else "?" for one in text[:40])
    return repr(plain)
