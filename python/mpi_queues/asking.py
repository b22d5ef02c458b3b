"""Asks all targets of a command line: live processes, core files, recordings."""

from __future__ import annotations

import json
import time
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from . import many_nodes, pages, recordings
from ._native import NativeError, Session, Snapshot
from .errors import UserError, as_user_error
from .launchers.model import JobWorld
from .native import reading
from .native.answers import Answer, Unreadable
from .nodes import reading as nodes
from .report import progress
from .request import Request
from .system import processes
from .targets import CoreTarget, LeftOutTarget, LostTarget, NodesTarget, PidTarget, Place, RecordingTarget, Target

#: Where nothing could be read, so many reasons are told.
_MOST_TOLD = 50


def snapshots(
    wanted: Sequence[Target], request: Request, *, quiet: bool = False
) -> Tuple[List[Snapshot], List[UserError]]:
    """A snapshot of each process that could be read, and why others could not; ``quiet`` shows no progress.

    A rank of a job that could not be read is a process in the snapshots, with its reason, where any other was read.
    """
    kept: List[Snapshot] = []
    damaged: List[UserError] = []
    if request.action in ("read", "stacks"):
        wanted, kept, damaged = pages.apart(wanted)
    # What is read stands meanwhile.
    states = {target.pid: processes.state_word(target.pid) for target in wanted if isinstance(target, PidTarget)}
    answers, refused = _asked([one for one in wanted if not isinstance(one, NodesTarget)], request, quiet=quiet)
    failures: List[UserError] = []
    found: List[Snapshot] = []
    for answer in answers:
        if answer.snapshot is not None:
            found.append(_placed(answer.snapshot, answer, states))

    outlines: List[Snapshot] = []

    def read(session: Session) -> Snapshot:
        if request.action == "handles":
            return request.handles(session)
        if request.action == "stacks":
            return request.standing(session)
        return recordings.read(session, request, outlines)

    notes = _times(answers)
    if notes:
        found.append(Snapshot.merged([], notes=notes))
    replayed, more = _replayed(wanted, read)
    found += [*kept, *(snapshot for _, snapshot in replayed)]
    more += damaged
    for target in wanted:
        if isinstance(target, NodesTarget):
            of_nodes, reasons, unread = many_nodes.read(target, request, progress.of_nodes(quiet))
            found += of_nodes
            more += reasons
            refused += unread
    found += outlines if found else []
    is_any_known = bool(found) or (request.tells_of_all and any(_outline(reason) for _, reason in refused))
    for target, reason in refused:
        place = target.place if isinstance(target, (PidTarget, LostTarget)) else None
        if is_any_known and place is not None:
            found.append(_unread(place, reason, states, request))
            continue
        # Of one process alone the reason says more than where it stands.
        known = _without_place(reason) if request.tells_of_all and len(wanted) > 1 else None
        if known is None:
            failures.append(reason)
        else:
            found.append(known)
    return found, _together(failures) + more


def _together(failures: List[UserError]) -> List[UserError]:
    """In one sentence where all of several processes have ended."""
    if len(failures) < 2 or any(failure.kind != "gone" for failure in failures):
        return failures
    said = f"the job has ended: all {len(failures)} processes, while they were read"
    return [UserError(said, help=failures[0].help, kind="gone")]


def _times(answers: Sequence[Answer]) -> List[str]:
    """How far apart in time the ranks of a job were stopped, and how long it took; nothing where they were not read
    together."""
    stopped = [answer.stopped for answer in answers if answer.stopped is not None]
    ended = [answer.released for answer in answers if answer.released is not None]
    if len(stopped) < 2 or not ended:
        return []
    whole = max(ended) - min(stopped)
    alone = sum(answer.stopped is None for answer in answers)
    told = (
        f"{len(stopped)} ranks were stopped within {max(stopped) - min(stopped):.2f} s and read in {whole:.2f} s, "
        f"{whole / len(stopped) * 1000:.0f} ms a rank; what their queues say is of the time when each was stopped"
        + (f". {alone} more were read one by one, later" if alone else "")
    )
    return [told]


def _placed(snapshot: Snapshot, answer: Answer, states: Mapping[int, str]) -> Snapshot:
    """With what its job knows of the process, when it was stopped, and what it was at before."""
    if not isinstance(answer.target, PidTarget):
        return snapshot
    pid, place = answer.target.pid, answer.target.place
    if place is None:
        return snapshot.placed(pid, rank=None, world_size=None, captured_at=None, state=states.get(pid))
    at = snapshot.captured_at
    if answer.stopped is not None:
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(answer.stopped))
        at = f"{seconds}.{int(answer.stopped % 1 * 1000):03d}Z"
    return snapshot.placed(
        pid, rank=place.entry.rank, world_size=place.world_size, captured_at=at, state=states.get(pid)
    )


def _outline(error: UserError) -> Optional[str]:
    return error.outline if isinstance(error, Unreadable) else None


def _without_place(error: UserError) -> Optional[Snapshot]:
    """What is known of a process that could not be read, and of no job."""
    outline = _outline(error)
    try:
        return None if outline is None else Snapshot.from_json(outline)
    except ValueError:
        # It is no outline of ours.
        return None


def _unread(place: Place, error: UserError, states: Mapping[int, str], request: Request) -> Snapshot:
    """A rank of a job of which little is known but its place."""
    entry = place.entry
    outline, in_a_line = _outline(error), str(error).replace("\n", "; ")
    captured_at = None
    process: Dict[str, Any] = {}
    if outline is not None:
        # Of MPI_Init or MPI_Finalize: how far it is and where it stands.
        try:
            captured_at, (process,) = (json.loads(outline)[name] for name in ("captured_at", "processes"))
            problem = None if request.tells_of_all else in_a_line
            return _of_outline(place, problem, states, captured_at, process)
        except (ValueError, LookupError, TypeError, RecursionError):
            # It is no outline of ours.
            captured_at, process = None, {}
    elif entry.here and (entry.state in ("zombie", "ended") or error.kind == "gone"):
        process = {"stage": "ended"}
    return _of_outline(place, in_a_line, states, captured_at, process)


def _of_outline(
    place: Place, problem: Optional[str], states: Mapping[int, str], captured_at: Optional[str], process: Dict[str, Any]
) -> Snapshot:
    entry = place.entry
    process = {
        **process,
        "rank": entry.rank,
        "world_size": place.world_size,
        "world": entry.world if place.world else None,
        "pid": entry.pid,
        "host": entry.host,
        "executable": entry.executable,
        "state": states.get(entry.pid or 0, entry.state if entry.here else None),
        "mpi": None,
        "source": None,
        "problems": [] if problem is None else [problem],
    }
    content = {"schema": "mpi-queues/1", "captured_at": captured_at, "processes": [process]}
    return Snapshot.from_json(json.dumps(content))


def worlds(wanted: Sequence[Target]) -> List[JobWorld]:
    """The worlds of the jobs that are read, for ``Snapshot.merged``; none where there is only one."""
    places = [target.place for target in wanted if isinstance(target, (PidTarget, LostTarget)) and target.place]
    found: Dict[int, JobWorld] = {}
    for place in places:
        if place.world is not None:
            world = place.world
            entry = found.setdefault(
                world.number, (world.number, world.name, world.size, world.first, world.parent, [])
            )
            entry[-1].extend([place.entry.pid] if place.entry.pid is not None and place.entry.here else [])
    return list(found.values())


def facts(
    wanted: Sequence[Target], request: Request, replay: Callable[[Session], Any]
) -> Tuple[List[Tuple[str, Any]], List[UserError]]:
    """What else is asked of each process, by what it is called, and why others gave nothing.

    ``replay`` asks a recorded process for the same.
    """
    answers, failures = ask(wanted, request)
    # Of a launcher's ranks elsewhere each has been refused.
    failures += [
        nodes.not_asked(target.label) for target in wanted if isinstance(target, NodesTarget) and not target.elsewhere
    ]
    found: List[Tuple[str, Any]] = []
    found += [(answer.target.label, answer.facts) for answer in answers]
    replayed, more = _replayed(wanted, replay)
    return found + replayed, failures + more


def ask(wanted: Sequence[Target], request: Request, *, quiet: bool = False) -> Tuple[List[Answer], List[UserError]]:
    """Asks each target but recordings: the answers, and why others gave none."""
    answers, refused = _asked(wanted, request, quiet=quiet)
    return answers, [error for _, error in refused]


def _asked(
    wanted: Sequence[Target], request: Request, *, quiet: bool
) -> Tuple[List[Answer], List[Tuple[Target, UserError]]]:
    refused: List[Tuple[Target, UserError]] = [
        (target, target.reason) for target in wanted if isinstance(target, (LostTarget, LeftOutTarget))
    ]
    refused += [(one, one.reason) for target in wanted if isinstance(target, NodesTarget) for one in target.elsewhere]
    debugged = [target for target in wanted if isinstance(target, (PidTarget, CoreTarget))]
    if not debugged:
        return [], refused
    answers = reading.read_all(debugged, request, progress.of_processes(quiet))
    refused = [(answer.target, answer.error) for answer in answers if answer.error] + refused
    return [answer for answer in answers if answer.error is None], refused


def recorded_sessions(wanted: Sequence[Target], failures: List[UserError]) -> Iterator[Tuple[str, Session]]:
    """A session for each whole process of the recordings, by what it is called, one after the other; what is wrong with
    the others is added to ``failures``."""
    for target in wanted:
        if not isinstance(target, RecordingTarget):
            continue
        try:
            recording = recordings.open_recording(target.path)
        except UserError as error:
            failures.append(error)
            continue
        problems: List[str] = []
        for number, session in enumerate(recordings.sessions(recording, target.path, problems), 1):
            yield (target.label if len(recording) == 1 else f"{target.label}, process {number}"), session
        failures += [UserError(problem, kind="recording") for problem in problems]


def _replayed(
    wanted: Sequence[Target], replay: Callable[[Session], Any]
) -> Tuple[List[Tuple[str, Any]], List[UserError]]:
    found: List[Tuple[str, Any]] = []
    failures: List[UserError] = []
    for label, session in recorded_sessions(wanted, failures):
        try:
            found.append((label, replay(session)))
        except NativeError as error:
            shown = as_user_error(error)
            failures.append(UserError(f"{label}: {shown.args[0]}", help=shown.help, kind=shown.kind))
    return found, failures


def raise_all(failures: List[UserError]) -> None:
    """One error of many; the same next step is named once.

    Raises:
        UserError: always.
    """
    helps = list(dict.fromkeys(failure.help for failure in failures if failure.help))
    messages = list(dict.fromkeys(str(failure.args[0]) for failure in failures))
    if len(messages) > _MOST_TOLD:
        messages[_MOST_TOLD:] = [f"and {len(messages) - _MOST_TOLD:,} more like these"]
    raise UserError("\n".join(messages), help="\n".join(helps), kind=failures[0].kind)
