"""Reads targets for the command line, each through a debugger of its own.

Whatever happens to that debugger - a time limit, Ctrl-C, a crash - a live process is left detached and in the state in
which it was found.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import IO, Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union

from .. import processes
from ..errors import UserError, as_user_error
from ..targets import CoreTarget, PidTarget
from .conversation import Reply, converse
from .core_program import checked_core
from .launchers import Launcher, launcher

#: The first line of an answer is not longer than this.
_MAX_HEAD = 1 << 20

DebuggedTarget = Union[PidTarget, CoreTarget]


@dataclass
class Request:
    """What is asked of every target."""

    action: str
    source: str = "auto"
    plugin: Optional[str] = None
    queues: bool = True
    #: Handles: pairs of a kind and a value, None for all of that kind. Where they alone are asked for and none is
    #: named, every kind.
    wanted: Tuple[Tuple[str, Optional[str]], ...] = ()
    #: Seconds for one target.
    timeout: float = 60.0
    #: The debugger: ``gdb`` or ``lldb``.
    via: str = "gdb"
    #: For recordings: all writable memory of the MPI library, too.
    full: bool = False
    #: A layout profile to use instead of the shipped ones.
    layouts: Optional[str] = None
    #: Where an answer is kept until it is used; None for the system's place of temporary files.
    spool: Optional[str] = None


@dataclass
class Answer:
    """What came back for one target, or why nothing did."""

    target: DebuggedTarget
    body: Optional[IO[bytes]] = None
    error: Optional[UserError] = None

    def opened(self) -> IO[bytes]:
        """The body of an answer that is no error; who takes it closes it."""
        assert self.body is not None
        return self.body

    def text(self) -> str:
        """The same as text (JSON), once."""
        with self.opened() as body:
            return body.read().decode("utf-8", "replace")


def read_all(
    targets: Sequence[DebuggedTarget],
    request: Request,
    progress: Callable[[int, int, int], None] = lambda done, total, received: None,
) -> List[Answer]:
    """Asks all targets, as many at once as there are processors; the answers are in the order of ``targets``.

    ``progress`` is told how many are done, of how many, and how many bytes have come back from all.

    Raises:
        UserError: where the debugger is not installed.
        KeyboardInterrupt: after every debugger has ended.
    """
    debugger = launcher(request.via)
    cancelled = threading.Event()
    received = [0] * len(targets)
    workers = max(1, min(len(targets), len(os.sched_getaffinity(0))))
    with ThreadPoolExecutor(workers) as pool:
        futures: List[Future[Answer]] = [
            pool.submit(_read_one, debugger, target, request, cancelled, functools.partial(_count, received, index))
            for index, target in enumerate(targets)
        ]
        pending = set(futures)
        try:
            progress(0, len(targets), 0)
            while pending:
                _, pending = wait(pending, timeout=0.5, return_when=FIRST_COMPLETED)
                progress(len(targets) - len(pending), len(targets), sum(received))
        except BaseException:
            # Also on Ctrl-C: every debugger detaches before this returns.
            cancelled.set()
            for future in futures:
                future.cancel()
            raise
    return [future.result() for future in futures]


def _count(received: List[int], index: int, length: int) -> None:
    received[index] += length


def _read_one(
    debugger: Launcher,
    target: DebuggedTarget,
    request: Request,
    cancelled: threading.Event,
    received: Callable[[int], None],
) -> Answer:
    if cancelled.is_set():
        return Answer(target, error=UserError(f"{target.label}: interrupted", kind="interrupted"))
    try:
        with _left_as_found(target):
            return Answer(target, _ask(debugger, target, request, cancelled, received))
    except (UserError, OSError) as error:
        return Answer(target, error=as_user_error(error))


@contextlib.contextmanager
def _left_as_found(target: DebuggedTarget) -> Iterator[None]:
    """Sees to it that a live process can be attached to, and is afterwards as it was before."""
    if isinstance(target, CoreTarget):
        yield
        return
    processes.check_readable(target.pid)
    started, was_stopped = processes.start_time(target.pid), processes.state(target.pid) == "T"
    killed = True
    try:
        yield
        killed = False
    finally:
        processes.restore_state(target.pid, started, was_stopped, killed=killed)


def _ask(
    debugger: Launcher,
    target: DebuggedTarget,
    request: Request,
    cancelled: threading.Event,
    received: Callable[[int], None],
) -> IO[bytes]:
    """Runs one debugger; returns the body of its answer."""
    reply = converse(debugger, _content(target, request), request.timeout, cancelled, received, request.spool)
    if cancelled.is_set():
        raise UserError(f"{target.label}: interrupted", kind="interrupted")
    if reply.answer is None:
        left = "; it was left running" if isinstance(target, PidTarget) else ""
        raise UserError(
            f"{target.label}: not read within {request.timeout:g} seconds{left}",
            help="allow more time with --timeout SECONDS",
            kind="timeout",
        )
    try:
        _check_head(debugger, target, reply, reply.answer.readline(_MAX_HEAD))
    except BaseException:
        reply.answer.close()
        raise
    return reply.answer


def _check_head(debugger: Launcher, target: DebuggedTarget, reply: Reply, head: bytes) -> None:
    """Looks at the first line of an answer.

    Raises:
        UserError: where it is an error, or no line of ours.
    """
    try:
        said = json.loads(head)
    except ValueError:
        said = None
    if not isinstance(said, dict):
        raise _died(debugger, target, reply)
    if "error" in said:
        if _is_gone(target):
            raise _ended(target)
        error, kind = str(said["error"]), str(said.get("kind", "error"))
        named = error if target.label in error else f"{target.label}: {error}"
        raise UserError(named, help=str(said.get("help", "")), kind=kind)


def _content(target: DebuggedTarget, request: Request) -> bytes:
    content: Dict[str, Any] = {
        "pid": None,
        "action": request.action,
        "source": request.source,
        "plugin": request.plugin,
        "queues": request.queues,
        "wanted": request.wanted,
        "full": request.full,
        "layouts": request.layouts,
        # A plug-in that takes too long is ended while there is time left to tell what it said.
        "timeout": max(0.5, request.timeout * 0.8),
        # The same, as a time of the clock that all processes share: a debugger may take long to start.
        "until": time.monotonic() + request.timeout * 0.8,
    }
    if isinstance(target, PidTarget):
        content["pid"] = target.pid
    else:
        content["core"], content["exe"] = checked_core(target.core, target.exe)
    return json.dumps(content).encode()


def _died(debugger: Launcher, target: DebuggedTarget, reply: Reply) -> UserError:
    """The debugger ended without an answer."""
    name = debugger.name
    text, status = reply.chatter, reply.status
    if any(said in text for said in debugger.no_python):
        return UserError(
            f"this {name} was built without Python, which mpi-queues needs",
            help=debugger.with_python,
            kind=f"no_{name}",
        )
    if _is_gone(target):
        return _ended(target)
    how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
    said = f"; it said:\n{text}" if text else ""
    return UserError(f"{target.label}: {name} {how} without an answer{said}", kind=f"no_{name}")


def _is_gone(target: DebuggedTarget) -> bool:
    """Also a process that its parent has not waited for yet."""
    return isinstance(target, PidTarget) and processes.state(target.pid) in ("", "Z", "X")


def _ended(target: DebuggedTarget) -> UserError:
    return UserError(
        f"{target.label}: the process ended while it was read",
        help="to find the ranks that are left, type: pgrep -af PROGRAM",
        kind="gone",
    )
