"""The ranks of a job on many nodes, for the command line and the API."""

from __future__ import annotations

from typing import List, Sequence, Tuple

from ._native import Snapshot
from .elsewhere import of_places, with_why
from .errors import UsageError, UserError
from .nodes import reading as nodes
from .nodes.agents import Look
from .nodes.gathering import Progress
from .request import Request
from .targets import NodesTarget, Target


def read(
    target: NodesTarget, request: Request, progress: Progress
) -> Tuple[List[Snapshot], List[UserError], List[Tuple[Target, UserError]]]:
    """The ranks of a job on all its nodes, of which nodes nothing came, and which ranks are known and were not read."""
    try:
        looks, missing, failures = nodes.read(target.job, request, progress, target.engine)
    except UsageError:
        raise
    except UserError as error:
        reason = str(error.args[0])
        return (
            [],
            [] if target.elsewhere else [error],
            [(one, with_why(one.reason, reason)) for one in target.elsewhere],
        )
    refused: List[Tuple[Target, UserError]] = []
    if target.elsewhere:
        looks, unread = of_places(looks, target.elsewhere)
        silent = nodes.silent(target.job)
        failures, missing = [], []
        refused = [(one, with_why(one.reason, silent.get(one.place.entry.host or ""))) for one in unread]
    if not looks:
        return [], failures, refused
    unanswered = f"; {len(failures)} did not answer" if failures else ""
    parts = [part for look in looks for part in look.parts]
    ranks = sum(part.extent()[0] for part in parts)
    note = f"{ranks} ranks were read on {len(looks)} nodes{_spread(looks)}{unanswered}"
    return [*parts, *missing, Snapshot.merged([], notes=[note])], failures, refused


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
