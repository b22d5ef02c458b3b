"""The ranks that a launcher of this machine has on other hosts, in what the agents there answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Dict, List, Optional, Sequence, Set, Tuple

from .errors import UserError
from .nodes.agents import Look
from .targets import LostTarget


def of_places(looks: Sequence[Look], elsewhere: Sequence[LostTarget]) -> Tuple[List[Look], List[LostTarget]]:
    """What of the answers is of the ranks that a launcher has written down, and the ranks of which there is nothing.

    On a host there may be a process with a number that is a rank's on another one.
    """
    entries = {(one.place.entry.host, one.place.entry.rank): one for one in elsewhere}
    hosts: Dict[Optional[int], Set[Optional[str]]] = {}
    for one in elsewhere:
        hosts.setdefault(one.place.entry.pid, set()).add(one.place.entry.host)
    kept: List[Look] = []
    for look in looks:
        of_job: Set[Optional[int]] = set()
        for part in look.parts:
            for rank, *_, pid in part.identities():
                if (look.node, rank) in entries and look.node in hosts.get(pid, {look.node}):
                    entries.pop((look.node, rank), None)
                    of_job.add(pid)
        if of_job:
            pids = [pid for pid in of_job if pid is not None]
            earlier = None if look.kept is None else look.kept.only(pids)
            kept.append(replace(look, snapshot=look.snapshot.only(pids), kept=earlier))
    return kept, list(entries.values())


def with_why(error: UserError, why: Optional[str]) -> UserError:
    """The same with why its host was not reached."""
    return UserError(f"{error.args[0]}: {why}", help=error.help, kind=error.kind) if why else error
