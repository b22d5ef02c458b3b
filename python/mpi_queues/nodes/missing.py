"""The ranks of a job of which no node has told."""

from __future__ import annotations

import json
from typing import Any, Dict, Sequence

from .._native import Snapshot

#: A larger world is not believed: what nodes say is not ours.
MAX_RANKS = 1 << 20

#: So many nodes are named in one sentence.
_MAX_NAMED = 8


def why_missing(silent: Dict[str, str]) -> str:
    """The reason, from which nodes did not answer."""
    names = list(silent)
    named = ", ".join(names[:_MAX_NAMED]) + (f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else "")
    if len(names) == 1:
        return f"node {named}: {silent[names[0]]}"
    if names:
        return f"it is on one of the nodes {named}, which did not answer"
    return "no node has its process"


def unread(told: Sequence[Snapshot], silent: Dict[str, str], *, all_seen: bool = False) -> Snapshot:
    """The ranks of which no node has told, as processes with the reason.

    ``all_seen``: every process that may be a rank was looked at, on every node of the job. One that is not there has
    ended.
    """
    # With several worlds nobody knows whose rank is missing.
    ranks, size = Snapshot.absent(told, MAX_RANKS)
    ended = all_seen and not silent
    reason = "no node of the job has its process: it has ended" if ended else f"not read: {why_missing(silent)}"
    process = {"world_size": size, "mpi": None, "source": None, "problems": [reason]}
    content: Dict[str, Any] = {
        "schema": "mpi-queues/1",
        "captured_at": None,
        "processes": [{"rank": rank, **process, **({"stage": "ended"} if ended else {})} for rank in ranks],
    }
    return Snapshot.from_json(json.dumps(content))
