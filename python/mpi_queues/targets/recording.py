"""Recordings as targets: files that hold what readers need of one or many processes, and their replay."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Iterator, List, Sequence, Tuple, Union

from .._native import NativeError, Recording, Session, Snapshot
from ..errors import UserError, as_user_error
from ..page import inside
from ..request import Request
from ..system.paths import shown
from .target import Answers, Target

Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class RecordingTarget(Target):
    """All processes of a recording."""

    path: str

    @property
    def label(self) -> str:
        return shown(self.path)

    def sessions(self, failures: List[UserError]) -> Iterator[Tuple[str, Session]]:
        """A session for each whole process, by what it is called, one after the other; what is wrong with the others is
        added to ``failures``."""
        try:
            recording = open_recording(self.path)
        except UserError as error:
            failures.append(error)
            return
        problems: List[str] = []
        for number, session in enumerate(sessions(recording, self.path, problems), 1):
            yield (self.label if len(recording) == 1 else f"{self.label}, process {number}"), session
        failures += [UserError(problem, kind="recording") for problem in problems]

    def ask(self, request: Request, found: Answers) -> None:
        """Adds what its processes answer."""
        for label, session in self.sessions(found.failures):
            try:
                found.told.append((label, replayed(session, request, found.outlines)))
            except NativeError as error:
                found.failures.append(of_process(label, error))


def ask(targets: Sequence[RecordingTarget], request: Request, found: Answers, quiet: bool) -> None:
    """Asks one after the other."""
    for target in targets:
        target.ask(request, found)


def of_process(label: str, error: NativeError) -> UserError:
    """Why a recorded process gave nothing."""
    told = as_user_error(error)
    return UserError(f"{label}: {told.args[0]}", help=told.help, kind=told.kind)


def open_recording(path: Path) -> Recording:
    """Opens a recording.

    Raises:
        UserError: where it is none.
    """
    try:
        return Recording(path)
    except NativeError as error:
        if inside.is_page(path):
            raise UserError(
                f"{shown(os.fspath(path))}: a report has what was read of the processes, but not their memory",
                help="name a recording, or what the report was made from",
                kind="recording",
            ) from None
        raise as_user_error(error) from None


def sessions(recording: Recording, name: Path, problems: List[str]) -> Iterator[Session]:
    """A session for every process that is whole, one after the other; what is wrong with the others and with the file
    is added to ``problems``. Who keeps none of them needs no more memory for many processes than for one."""
    problems += [f"{shown(os.fspath(name))}: {problem}" for problem in recording.problems]
    for index in range(len(recording)):
        try:
            yield recording.session(index)
        except NativeError as error:
            problems.append(str(error))
            if error.kind == "too_large":
                # The others are not less.
                return


def load(path: Path, request: Request) -> Snapshot:
    """Replays a recording: reads every process in it as if it were there, stopped.

    What cannot be read is among the snapshot's ``problems``.

    Raises:
        UserError: where the file is no recording, or none of its processes can be read.
    """
    problems: List[str] = []
    snapshots: List[Snapshot] = []
    outlines: List[Snapshot] = []
    failures: List[UserError] = []
    for session in sessions(open_recording(path), path, problems):
        try:
            snapshots.append(replayed(session, request, outlines))
        except NativeError as error:
            failures.append(as_user_error(error))
            problems.append(str(error))
    if not snapshots:
        name = shown(os.fspath(path))
        help_text = failures[0].help if failures else f"to see what is left, type: mpi-queues recording info {name}"
        raise UserError("\n".join(problems) or f"{name}: it has no processes", help=help_text, kind="recording")
    return Snapshot.merged([*snapshots, *outlines], problems)


def replayed(session: Session, request: Request, outlines: List[Snapshot]) -> Any:
    """What a recorded process answers. What is known of one before MPI_Init or after MPI_Finalize is told, where the
    request is for that, and else added to ``outlines``.

    Raises:
        NativeError: where it could not be read.
    """
    try:
        return request.ask(session)
    except NativeError:
        outline = request.outline(session) if request.action == "read" else None
        if outline is None:
            raise
        if not request.tells_of_all:
            outlines.append(outline)
            raise
        return outline
