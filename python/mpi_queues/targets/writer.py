"""A recording that is being written."""

from __future__ import annotations

import json
import os
import pathlib
import socket
import stat
import time
from contextlib import contextmanager
from typing import IO, Any, Callable, Iterable, Iterator, Optional, Protocol, Union

from .._native import NativeError, Recording, __version__, recording_end, recording_start
from ..errors import UserError
from ..system.paths import shown
from ..system.written import new_file

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
            raise UserError(f"nothing was recorded: {shown(str(place))} was not written", kind="not_recorded")
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
            f"{shown(str(place))} exists and is not a recording; it was not changed: {error}", kind="exists"
        ) from None
