"""What a debugger that reads for the command line is asked, what it answers, and what is told where it does not."""

from __future__ import annotations

import contextlib
import json
import tempfile
import threading
import time
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, Optional, Sequence, Tuple, Union

from .. import _native
from ..errors import UserError
from ..request import Core, Live, Question, Request
from ..system import advice, attaching, processes
from ..system.paths import shown
from ..targets import CoreTarget, PidTarget
from .conversation import Reply
from .core_process import checked_core
from .invocation import Launcher
from .kept_answer import KeptAnswer

DebuggedTarget = Union[PidTarget, CoreTarget]

#: Told how many targets are done, of how many, and how many bytes have come back.
Progress = Callable[[int, int, int], None]


class Unreadable(UserError):
    """A process could not be read. ``outline`` is the JSON of what is known of it all the same; None: nothing is."""

    def __init__(self, message: str, *, help: str = "", kind: str = "error", outline: Optional[str] = None) -> None:
        super().__init__(message, help=help, kind=kind)
        self.outline = outline


class Told:
    """How far all is, for the progress that is shown."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        #: Bytes that have come back.
        self.received = 0
        #: For how long processes have stood for us that were not read, in seconds, by their ids.
        self.stood: Dict[int, float] = {}
        self._lock = threading.Lock()

    def one_done(self) -> None:
        """Another target has been dealt with."""
        with self._lock:
            self.done += 1

    def came(self, length: int) -> None:
        """Bytes have come back."""
        with self._lock:
            self.received += length


@dataclass
class Answer:
    """What came back for one target, or why nothing did."""

    target: DebuggedTarget
    #: What a debugger has sent, or a recorded process: of an answer that is no error and nothing of what follows.
    body: Optional[KeptAnswer] = None
    #: What was read in this very process.
    snapshot: Optional[_native.Snapshot] = None
    facts: Any = None
    error: Optional[UserError] = None
    #: Why a debugger reads it, which was not asked for by name; None where none does, or it was.
    because: Optional[str] = None
    #: When the process was stopped, and when it went on or soon after, where several were stopped together: in seconds
    #: since 1970.
    stopped: Optional[float] = None
    released: Optional[float] = None
    #: Why it was read with the rights of root, though it is another user's; None where it was not.
    as_root: Optional[str] = None

    def taken(self) -> KeptAnswer:
        """The body of an answer that is no error, once: who takes it closes it."""
        assert self.body is not None
        return self.body

    def read(self) -> _native.Snapshot:
        """The snapshot, once.

        Raises:
            ValueError, UserError: where a debugger has sent something else.
        """
        return self.snapshot if self.snapshot is not None else _native.Snapshot.from_json(self._text())

    def said(self) -> Any:
        """What else was asked, once.

        Raises:
            ValueError, UserError: as :meth:`read`.
        """
        return self.facts if self.facts is not None else json.loads(self._text())

    def _text(self) -> str:
        with self.taken() as body:
            return b"".join(body.pieces()).decode("utf-8", "replace")


@contextlib.contextmanager
def left_as_found(target: DebuggedTarget) -> Iterator[None]:
    """Sees to it that a live process can be attached to, and is afterwards as it was before."""
    if isinstance(target, CoreTarget):
        yield
        return
    attaching.check_readable(target.pid)
    started, was_stopped = processes.start_time(target.pid), processes.state(target.pid) == "T"
    killed = True
    try:
        yield
        killed = False
    finally:
        attaching.restore_state(target.pid, started, was_stopped, killed=killed)


def check_head(debugger: Launcher, target: DebuggedTarget, reply: Reply, head: bytes) -> None:
    """Looks at the first line of an answer.

    Raises:
        UserError: where it is an error, or no line of ours.
    """
    try:
        said = json.loads(head)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise died(debugger, target, reply)
    if "error" in said:
        raise said_error(target, said)


def said_error(target: DebuggedTarget, said: Dict[str, Any]) -> UserError:
    """The error that a debugger told of a target."""
    if is_gone(target):
        return ended(target)
    error, kind = str(said["error"]), str(said.get("kind", "error"))
    named = error if target.label in error else f"{target.label}: {error}"
    outline = said.get("outline")
    return Unreadable(named, help=str(said.get("help", "")), kind=kind, outline=str(outline) if outline else None)


def question(target: DebuggedTarget, request: Request) -> Question:
    """The request about one target, as its debugger gets it.

    Raises:
        UserError: for a core file that is none, or whose program is not there.
    """
    inner, until = _inner(request)
    if isinstance(target, CoreTarget):
        return Question(inner, until, core=Core(*checked_core(target.core, target.exe)))
    return Question(inner, until, live=Live(target.pid))


def question_together(targets: Sequence[PidTarget], request: Request) -> Question:
    """The request about processes that are stopped together."""
    inner, until = _inner(request)
    ranks = tuple(Live(one.pid, one.place.universe_rank if one.place else None) for one in targets)
    return Question(inner, until, together=ranks)


def _inner(request: Request) -> Tuple[Request, float]:
    """The request with the limit that the debugger keeps, and when that is reached. A plug-in that takes too long is
    ended while there is time left to tell what it said."""
    seconds = request.timeout * 0.8
    return request.within(max(0.5, seconds)), time.monotonic() + seconds


def late(target: DebuggedTarget, request: Request) -> UserError:
    """Nothing came in time."""
    left = "; it is as it was before" if isinstance(target, PidTarget) else ""
    return UserError(
        f"{target.label}: not read within {request.timeout:g} seconds{left}",
        help="allow more time with --timeout SECONDS",
        kind="timeout",
    )


#: The kind of errors of where answers are kept meanwhile: they are the same for every target.
NOT_KEPT = "not_kept"


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


def died(debugger: Launcher, target: DebuggedTarget, reply: Reply) -> UserError:
    """The debugger ended without an answer."""
    name = debugger.name
    text, status = reply.chatter, reply.status
    if any(said in text for said in debugger.no_python):
        return UserError(
            f"this {name} was built without Python, which mpi-queues needs",
            help=advice.install(debugger.package) + debugger.package_note,
            kind=f"no_{name}",
        )
    if is_gone(target):
        return ended(target)
    how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
    said = f"; it said:\n{text}" if text else ""
    return UserError(f"{target.label}: {name} {how} without an answer{said}", kind=f"no_{name}")


def is_gone(target: DebuggedTarget) -> bool:
    """Also a process that its parent has not waited for yet."""
    return isinstance(target, PidTarget) and processes.has_ended(target.pid)


def ended(target: DebuggedTarget) -> UserError:
    return UserError(
        f"{target.label}: the process ended while it was read",
        help="to see the ranks that are left, type: mpi-queues ranks",
        kind="gone",
    )
