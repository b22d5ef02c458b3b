"""What came back for each target that is read on this machine, or why nothing did."""

from __future__ import annotations

import contextlib
import os
import tempfile
from dataclasses import dataclass
from typing import IO, Any, Callable, ClassVar, Iterator, Optional

from .. import _native
from ..errors import UserError, as_user_error
from ..request import Request
from ..system.paths import shown
from .target import Target, Unreadable

#: The kind of errors of where recorded processes are kept meanwhile: they are the same for every target.
NOT_KEPT = "not_kept"

#: So much is in memory at once (bytes).
_PIECE = 1 << 20


class ReadTarget(Target):
    """A target that is read on this machine, without a debugger."""

    #: What becomes of it where it was not read in time.
    left: ClassVar[str] = ""

    @property
    def has_ended(self) -> bool:
        """Whether there is nothing to read any more."""
        return False


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
                raise UserError(f"the temporary file with what was read: {why}", kind=NOT_KEPT) from None
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
    #: What was asked for: a snapshot, a RecordedProcess, facts.
    told: Any = None
    error: Optional[UserError] = None
    #: When the process was stopped, and when it went on or soon after, where several were stopped together: in seconds
    #: since 1970.
    stopped: Optional[float] = None
    released: Optional[float] = None


def asked(target: ReadTarget, request: Request, opened: Callable[[], _native.Session]) -> Answer:
    """What a target answers, whose session ``opened`` gives."""
    session: Optional[_native.Session] = None
    try:
        session = opened()
        return Answer(target, _recorded(request, session) if request.action == "record" else request.ask(session))
    except (UserError, _native.NativeError, OSError) as error:
        said = _said(target, request, error, session)
        # Its frames hold what belongs to the thread that reads, and the answer outlives that.
        said.__traceback__ = said.__context__ = said.__cause__ = None
        return Answer(target, error=said)


def _recorded(request: Request, session: _native.Session) -> RecordedProcess:
    try:
        file = tempfile.TemporaryFile(dir=request.spool)  # noqa: SIM115 (the process is read from it later)
    except OSError as error:
        raise not_kept(request.spool, error) from None
    try:
        problem = session.record(file.write, full=request.full)
        file.flush()
    except BaseException as error:
        # What a full disk does not take any more is not wanted any more.
        with contextlib.suppress(OSError):
            file.close()
        if isinstance(error, OSError):
            raise not_kept(request.spool, error) from None
        raise
    return RecordedProcess(file, problem)


def _said(target: ReadTarget, request: Request, error: Exception, session: Optional[_native.Session]) -> UserError:
    """Why nothing was read of a target; with what is known of it all the same."""
    shown = as_user_error(error)
    if target.has_ended:
        return ended(target)
    if shown.kind == "timeout":
        return late(target, request.timeout)
    if shown.kind == NOT_KEPT:
        return shown
    outline = None
    if session is not None and request.action == "read":
        with contextlib.suppress(_native.NativeError):
            outline = request.outline(session)
    text = str(shown.args[0])
    named = text if target.label in text else f"{target.label}: {text}"
    return Unreadable(named, help=shown.help, kind=shown.kind, outline=outline)


def late(target: ReadTarget, seconds: float) -> UserError:
    """It was not read in time."""
    return UserError(
        f"{target.label}: not read within {seconds:g} seconds{target.left}",
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
        help=f"free space there, or {there}; to see how much is free, type: df -h {place}",
        kind=NOT_KEPT,
    )


def ended(target: ReadTarget) -> UserError:
    """That it has, before it was read."""
    return UserError(
        f"{target.label}: the process ended while it was read",
        help="to see the ranks that are left, type: mpi-queues ranks",
        kind="gone",
    )
