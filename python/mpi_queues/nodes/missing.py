"""The ranks of a job of which no node has told."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .._native import Snapshot

#: A larger world is not believed: what nodes say is not ours.
MAX_RANKS = 1 << 20

#: As ``Snapshot.identities`` has it: rank, size of its world, what the library calls that, host, process id.
Identity = Tuple[Optional[int], Optional[int], Optional[str], Optional[str], Optional[int]]

#: So many nodes are named in one sentence.
_MAX_NAMED = 8


def missing(identities: Sequence[Identity]) -> Tuple[List[int], int]:
    """The ranks of MPI_COMM_WORLD of which no node has told, and how many there are in all."""
    # With several worlds nobody knows whose rank is missing.
    if len({key for _, _, key, *_ in identities if key is not None}) > 1:
        return [], 0
    told = Counter(size for _, size, *_ in identities if size is not None)
    if not told:
        return [], 0
    # What most say: one node may say anything.
    size = told.most_common(1)[0][0]
    seen = {rank for rank, *_ in identities}
    return [rank for rank in range(size) if rank not in seen] if size <= MAX_RANKS else [], size


def why_missing(silent: Dict[str, str]) -> str:
    """The reason, from which nodes did not answer."""
    names = list(silent)
    named = ", ".join(names[:_MAX_NAMED]) + (f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else "")
    if len(names) == 1:
        return f"node {named}: {silent[names[0]]}"
    if names:
        return f"it is on one of the nodes {named}, which did not answer"
    return "no node has a process of it"


def unread(identities: Sequence[Identity], silent: Dict[str, str], *, all_seen: bool = False) -> Snapshot:
    """Missing ranks, as processes with the reason.

    ``all_seen``: every process that may be a rank was looked at, on every node of the job. One that is not there has
    ended.
    """
    ranks, size = missing(identities)
    ended = all_seen and not silent
    reason = "no node of the job has a process of it: it has ended" if ended else f"not read: {why_missing(silent)}"
    process = {"world_size": size, "mpi": None, "source": None, "problems": [reason]}
    content: Dict[str, Any] = {
        "schema": "mpi-queues/1",
        "captured_at": None,
        "processes": [{"rank": rank, **process, **({"stage": "ended"} if ended else {})} for rank in ranks],
    }
    return Snapshot.from_json(json.dumps(content))
