"""What came back for each target that is read without a debugger, or why nothing did."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from typing import IO, Any, Callable, Iterator, Optional, Union

from .. import _native
from ..errors import UserError
from ..system import processes
from ..system.paths import shown
from ..targets import CoreTarget, PidTarget

#: A target that is read here.
ReadTarget = Union[PidTarget, CoreTarget]

#: Told how many targets are done, of how many.
Progress = Callable[[int, int], None]

#: The kind of errors of where recorded processes are kept meanwhile: they are the same for every target.
NOT_KEPT = "not_kept"

#: So much is in memory at once (bytes).
_PIECE = 1 << 20


class Unreadable(UserError):
    """A process could not be read. ``outline`` is the JSON of what is known of it all the same; None: nothing is."""

    def __init__(self, message: str, *, help: str = "", kind: str = "error", outline: Optional[str] = None) -> None:
        super().__init__(message, help=help, kind=kind)
        self.outline = outline


class RecordedProcess:
    """A process as a part of a recording, in a temporary file. That has no name, so that nothing is left of it however
    we end."""

    def __init__(self, file: IO[bytes], problem: Optional[str]) -> None:
        self._file = file
        #: Why the process cannot be read, if it cannot.
        self.problem = problem

    def pieces(self) -> Iterator[bytes]:
        """Its bytes, in pieces that are not large.

        Raises:
            UserError: where they cannot be read.
        """
        at = 0
        while True:
            try:
                piece = os.pread(self._file.fileno(), _PIECE, at)
            except OSError as error:
                why = error.strerror or error
                raise UserError(f"the temporary file of what was read: {why}", kind=NOT_KEPT) from None
            if not piece:
                return
            yield piece
            at += len(piece)

    def close(self) -> None:
        """It was used, or nobody will."""
        self._file.close()


@dataclass
class Answer:
    """What came back for one target, or why nothing did."""

    target: ReadTarget
    snapshot: Optional[_native.Snapshot] = None
    recorded: Optional[RecordedProcess] = None
    #: What else was asked.
    facts: Any = None
    error: Optional[UserError] = None
    #: When the process was stopped, and when it went on or soon after, where several were stopped together: in seconds
    #: since 1970.
    stopped: Optional[float] = None
    released: Optional[float] = None


def late(target: ReadTarget, seconds: float) -> UserError:
    """It was not read in time."""
    left = "; it is as it was before" if isinstance(target, PidTarget) else ""
    return UserError(
        f"{target.label}: not read within {seconds:g} seconds{left}",
        help="allow more time with --timeout SECONDS",
        kind="timeout",
    )


def not_kept(directory: Optional[str], error: OSError) -> UserError:
    """What was read cannot be written to where it is kept meanwhile: ``directory``, or that of temporary files. Of whom
    it was does not matter."""
    place = shown(directory or tempfile.gettempdir())
    there = "name another place" if directory else "name another directory in TMPDIR"
    return UserError(
        f"what was read cannot be kept in the directory {place}: {error.strerror or error}",
        help=f"make room there, or {there}; how much there is tells: df -h {place}",
        kind=NOT_KEPT,
    )


def is_gone(target: ReadTarget) -> bool:
    """Also a process that its parent has not waited for yet."""
    return isinstance(target, PidTarget) and processes.has_ended(target.pid)


def ended(target: ReadTarget) -> UserError:
    return UserError(
        f"{target.label}: the process ended while it was read",
        help="to see the ranks that are left, type: mpi-queues ranks",
        kind="gone",
    )
