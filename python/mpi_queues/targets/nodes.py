"""The ranks of a job on other nodes as a target: agents read them there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Dict, List, Optional, Sequence, Set, Tuple

from .._native import Snapshot
from ..errors import UsageError, UserError
from ..nodes import reading
from ..nodes.agents import Look
from ..nodes.engines import Engine
from ..report import progress
from ..request import Request
from ..system.paths import shown
from .lost import LostTarget, with_why
from .target import Answers, Target


@dataclass(frozen=True)
class NodesTarget(Target):
    """All ranks of a job on all its nodes, as the cluster's engine names it; or those on other hosts of a job whose
    launcher is here."""

    job: str
    engine: Engine = field(compare=False)
    #: The ranks that are on other hosts, as they are told of where these are not reached.
    elsewhere: Tuple[LostTarget, ...] = field(default=(), compare=False)

    @property
    def label(self) -> str:
        return shown(self.job)


def ask(targets: Sequence[NodesTarget], request: Request, found: Answers, quiet: bool) -> None:
    """Adds what the ranks answer, of which nodes nothing came, and which ranks are known and were not read."""
    for target in targets:
        try:
            _ask(target, request, found, quiet)
        except UsageError:
            raise
        except UserError as error:
            if not target.elsewhere:
                found.failures.append(error)
            # What agents are never asked for says nothing of a host.
            why = error.args[0] if request.gives_snapshots else None
            found.refused += [(one, with_why(one.reason, why)) for one in target.elsewhere]


def _ask(target: NodesTarget, request: Request, found: Answers, quiet: bool) -> None:
    looks, missing, failures = reading.read(target.job, request, progress.of_nodes(quiet), target.engine)
    if target.elsewhere:
        looks, unread = _of_places(looks, target.elsewhere)
        silent = reading.silent(target.job)
        failures, missing = [], []
        found.refused += [(one, with_why(one.reason, silent.get(one.place.entry.host or ""))) for one in unread]
    found.failures += failures
    if not looks:
        return
    unanswered = f"; {len(failures)} did not answer" if failures else ""
    parts = [part for look in looks for part in look.parts]
    ranks = sum(part.extent()[0] for part in parts)
    note = f"{ranks} ranks were read on {len(looks)} nodes{_spread(looks)}{unanswered}"
    found.told += [(target.label, part) for part in [*parts, *missing, Snapshot.merged([], notes=[note])]]


def _of_places(looks: Sequence[Look], elsewhere: Sequence[LostTarget]) -> Tuple[List[Look], List[LostTarget]]:
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


def _spread(looks: Sequence[Look]) -> str:
    """How far apart in time nodes were asked and their ranks stopped, by the nodes' own clocks."""
    asked = [look.asked_at for look in looks if look.asked_at is not None]
    stood = [look.stood for look in looks if look.stood is not None]
    told = f", asked within {max(asked) - min(asked):.2f} s" if len(asked) > 1 else ""
    if stood:
        begun = [begin for begin, _ in stood]
        longest = max(end - begin for begin, end in stood)
        told += f", stopped within {max(begun) - min(begun):.2f} s for at most {longest:.2f} s each"
    return f"{told}, by the nodes' clocks" if told else ""
