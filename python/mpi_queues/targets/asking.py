"""The one way to ask targets something, of whatever kinds they are."""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from .._native import Snapshot
from ..errors import UserError
from ..launchers.model import JobWorld
from ..request import Request
from . import lost, nodes, reading, recording
from .answer import ReadTarget
from .lost import LeftOutTarget, LostTarget
from .nodes import NodesTarget
from .process import PidTarget
from .recording import RecordingTarget
from .target import Answers, Place, Target, Unreadable

#: The kinds, and what asks all targets of each, in the order in which it is told what they lack.
_KINDS: Tuple[Tuple[Tuple[type, ...], Callable[[Any, Request, Answers, bool], None]], ...] = (
    ((ReadTarget,), reading.ask),
    ((LostTarget, LeftOutTarget), lost.ask),
    ((RecordingTarget,), recording.ask),
    ((NodesTarget,), nodes.ask),
)


def live(targets: Sequence[Target]) -> List[PidTarget]:
    """Those that are live processes of this machine."""
    return [target for target in targets if isinstance(target, PidTarget)]


def on_nodes(targets: Sequence[Target]) -> List[NodesTarget]:
    """Those that agents read on other nodes."""
    return [target for target in targets if isinstance(target, NodesTarget)]


def snapshots(wanted: Sequence[Target], request: Request, *, quiet: bool = False) -> Answers:
    """A snapshot of each process that could be read, and why others could not; ``quiet`` shows no progress.

    A rank of a job that could not be read is a process in the snapshots, with its reason, where any other was read.
    """
    found = _asked(wanted, request, quiet)
    found.worlds = _worlds(wanted)
    found.told += [("", outline) for outline in found.outlines] if found.told else []
    is_any_known = bool(found.told) or (request.tells_of_all and any(_outline(reason) for _, reason in found.refused))
    failures: List[UserError] = []
    for target, reason in found.refused:
        place = _place(target)
        if is_any_known and place is not None:
            known: Optional[Snapshot] = _unread(place, reason, found.states, request)
        else:
            # Of one process alone the reason says more than where it stands.
            known = _outline(reason) if request.tells_of_all and len(wanted) > 1 else None
        if known is None:
            failures.append(reason)
        else:
            found.told.append((target.label, known))
    found.failures = _together(failures) + found.failures
    return found


def facts(wanted: Sequence[Target], request: Request, *, quiet: bool = False) -> Answers:
    """What else is asked of each process, and why others gave nothing."""
    found = _asked(wanted, request, quiet)
    found.failures = [reason for _, reason in found.refused] + found.failures
    return found


def _asked(wanted: Sequence[Target], request: Request, quiet: bool) -> Answers:
    found = Answers()
    for kinds, ask in _KINDS:
        of_kind = [target for target in wanted if isinstance(target, kinds)]
        if of_kind:
            ask(of_kind, request, found, quiet)
    return found


def _place(target: Target) -> Optional[Place]:
    return target.place if isinstance(target, (PidTarget, LostTarget)) else None


def _together(failures: List[UserError]) -> List[UserError]:
    """In one sentence where all of several processes have ended."""
    if len(failures) < 2 or any(failure.kind != "gone" for failure in failures):
        return failures
    said = f"the job has ended: all {len(failures)} processes, while they were read"
    return [UserError(said, help=failures[0].help, kind="gone")]


def _outline(error: UserError) -> Optional[Snapshot]:
    return error.outline if isinstance(error, Unreadable) else None


def _unread(place: Place, error: UserError, states: Mapping[int, str], request: Request) -> Snapshot:
    """A rank of a job of which little is known but its place."""
    entry, outline = place.entry, _outline(error)
    content: Dict[str, Any] = {"schema": "mpi-queues/1", "captured_at": None, "processes": [{}]}
    problems = [error.in_a_line]
    if outline is not None:
        # Of MPI_Init or MPI_Finalize: how far it is and where it stands.
        told = json.loads(outline.to_json())
        content.update({name: told[name] for name in ("captured_at", "processes")})
        problems = [] if request.tells_of_all else problems
    elif entry.here and (entry.state in ("zombie", "ended") or error.kind == "gone"):
        content["processes"] = [{"stage": "ended"}]
    content["processes"][0].update(
        rank=entry.rank,
        world_size=place.world_size,
        world=entry.world if place.world else None,
        pid=entry.pid,
        host=entry.host,
        executable=entry.executable,
        state=states.get(entry.pid or 0, entry.state if entry.here else None),
        mpi=None,
        source=None,
        problems=problems,
    )
    return Snapshot.from_json(json.dumps(content))


def _worlds(wanted: Sequence[Target]) -> List[JobWorld]:
    """The worlds of the jobs that are read, for ``Snapshot.merged``; none where there is only one."""
    found: Dict[int, JobWorld] = {}
    for target in wanted:
        place = _place(target)
        if place is not None and place.world is not None:
            world = place.world
            told = found.setdefault(world.number, (world.number, world.name, world.size, world.first, world.parent, []))
            told[-1].extend([place.entry.pid] if place.entry.pid is not None and place.entry.here else [])
    return list(found.values())
