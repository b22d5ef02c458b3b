"""Recordings: files that hold what readers need of one or many processes, and their replay."""

from __future__ import annotations

import json
import os
import pathlib
import socket
import stat
import time
from contextlib import contextmanager
from typing import IO, Any, Callable, Iterable, Iterator, List, Optional, Protocol, Union

from ._native import NativeError, Recording, Session, Snapshot, __version__, recording_end, recording_start
from .errors import UserError, as_user_error
from .page import inside
from .request import Request
from .system.paths import shown
from .system.written import new_file

Path = Union[str, "os.PathLike[str]"]


class Recordable(Protocol):
    """What writes its process as a part of a recording: a ``Session``, or a process of a debugger."""

    def record(
        self,
        write: Callable[[bytes], Any],
        *,
        full: bool = False,
        progress: Optional[Callable[[int, int], Any]] = None,
    ) -> Optional[str]:
        """As :meth:`Session.record`."""


class RecordingWriter:
    """A recording that is being written; made by :func:`new_recording`."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        #: How many processes it has so far.
        self.processes = 0
        #: Its length in bytes, once it is whole.
        self.size = 0

    def add(
        self, session: Recordable, *, full: bool = False, progress: Optional[Callable[[int, int], None]] = None
    ) -> Optional[str]:
        """Records the process of a session; returns why it cannot be read, where it cannot.

        Raises:
            NativeError: where it cannot be recorded at all; nothing of it is in the file then.
        """
        with self._whole():
            return session.record(self._file.write, full=full, progress=progress)

    def add_pieces(self, pieces: Iterable[bytes]) -> None:
        """Adds a process that another program recorded (what ``Session.record`` wrote).

        Raises:
            UserError, OSError: as ``pieces`` do, and where the file cannot be written to; nothing of it is in it then.
        """
        with self._whole():
            for piece in pieces:
                self._file.write(piece)

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Counts one more process, or takes away what was written of it."""
        start = self._file.tell()
        try:
            yield
        except BaseException:
            self._file.seek(start)
            self._file.truncate()
            raise
        self.processes += 1


@contextmanager
def new_recording(path: Path) -> Iterator[RecordingWriter]:
    """Writes a recording that appears under its name when it is whole, or not at all.

    Raises:
        UserError: where it cannot be written, or no process was added.
    """
    place = pathlib.Path(path)
    about = {
        "tool": f"mpi-queues {__version__}",
        "recorded_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "recorded_on": socket.gethostname(),
    }
    _check_replaceable(place)
    with new_file(place, "the recording") as file:
        file.write(recording_start(json.dumps(about)))
        # A disk that takes nothing at all is told before anything is stopped.
        file.flush()
        writer = RecordingWriter(file)
        yield writer
        if not writer.processes:
            raise UserError(f"nothing was recorded: {shown(str(place))} is not written", kind="not_recorded")
        file.write(recording_end(writer.processes))
        writer.size = file.tell()


def _check_replaceable(place: pathlib.Path) -> None:
    """Refuses to replace what is no recording: a mistyped name must not cost somebody a file."""
    try:
        known = place.stat()
    except OSError:
        # Whether it can be written is seen when it is.
        return
    if not stat.S_ISREG(known.st_mode) or known.st_size == 0:
        return
    try:
        Recording(place)
    except NativeError as error:
        raise UserError(
            f"{shown(str(place))} exists and is not a recording; it is left as it is: {error}", kind="exists"
        ) from None


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
                f"{shown(os.fspath(path))}: a report has what was read of the processes, and not their memory",
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
    if inside.is_page(path):
        # A report: what it shows was read before.
        return inside.read(path)
    problems: List[str] = []
    snapshots: List[Snapshot] = []
    outlines: List[Snapshot] = []
    failures: List[UserError] = []
    for session in sessions(open_recording(path), path, problems):
        try:
            snapshots.append(read(session, request, outlines))
        except NativeError as error:
            failures.append(as_user_error(error))
            problems.append(str(error))
    if not snapshots:
        help_text = (
            failures[0].help
            if failures
            else f"to see what is left, type: mpi-queues recording info {shown(os.fspath(path))}"
        )
        what = "\n".join(problems) or f"{shown(os.fspath(path))}: it has no process"
        raise UserError(what, help=help_text, kind="recording")
    return Snapshot.merged([*snapshots, *outlines], problems)


def read(session: Session, request: Request, outlines: List[Snapshot]) -> Snapshot:
    """A recorded process. What is known of one before MPI_Init or after MPI_Finalize is told, where the request is for
    that, and else added to ``outlines``.

    Raises:
        NativeError: where it could not be read.
    """
    try:
        return request.read(session)
    except NativeError:
        outline = request.outline(session)
        if outline is None:
            raise
        if not request.tells_of_all:
            outlines.append(outline)
            raise
        return outline
