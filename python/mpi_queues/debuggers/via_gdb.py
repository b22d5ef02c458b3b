"""Reads live processes from the command line, each through a gdb of its own.

Whatever happens to that gdb - a time limit, Ctrl-C, a crash - the process is left detached and in the state in which
it was found.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import IO, Any, Callable, Dict, List, Optional, Sequence, Tuple

from .. import processes
from ..errors import UserError, as_user_error

SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "data" / "gdb-scripts" / "read_process.py"

#: Settings of the gdb that reads: nothing of the user's, nothing from the network, no code of the program's choice.
_SETTINGS = (
    "set debuginfod enabled off",
    "set auto-load off",
    "set confirm off",
    "set pagination off",
    "set print thread-events off",
    "set print inferior-events off",
)

#: How long a gdb that was told to end may take before it is killed.
_GRACE = 3.0

#: An answer larger than this is not one of ours.
_MAX_ANSWER = 4 << 30

#: How much of gdb's own output is kept for an error.
_MAX_CHATTER = 4000


@dataclass
class Request:
    """What is asked of every process."""

    action: str
    source: str = "auto"
    plugin: Optional[str] = None
    queues: bool = True
    #: Seconds for one process.
    timeout: float = 60.0


@dataclass
class Answer:
    """What came back for one process: a text (JSON), or why not."""

    pid: int
    text: str = ""
    error: Optional[UserError] = None


def find_gdb() -> str:
    """The path of gdb.

    Raises:
        UserError: where it is not installed.
    """
    path = shutil.which("gdb")
    if path is None:
        raise UserError("gdb is not installed", help="type: sudo apt install gdb", kind="no_gdb")
    return path


def read_all(
    pids: Sequence[int], request: Request, progress: Callable[[int, int], None] = lambda done, total: None
) -> List[Answer]:
    """Asks all processes, as many at once as there are processors; the answers are in the order of ``pids``.

    Raises:
        UserError: where there is no gdb.
        KeyboardInterrupt: after every gdb has ended.
    """
    gdb = find_gdb()
    cancelled = threading.Event()
    workers = max(1, min(len(pids), len(os.sched_getaffinity(0))))
    with ThreadPoolExecutor(workers) as pool:
        futures: List[Future[Answer]] = [pool.submit(_read_one, gdb, pid, request, cancelled) for pid in pids]
        pending = set(futures)
        try:
            progress(0, len(pids))
            while pending:
                _, pending = wait(pending, return_when=FIRST_COMPLETED)
                progress(len(pids) - len(pending), len(pids))
        except BaseException:
            # Also on Ctrl-C: every gdb detaches before this returns.
            cancelled.set()
            for future in futures:
                future.cancel()
            raise
    return [future.result() for future in futures]


def _read_one(gdb: str, pid: int, request: Request, cancelled: threading.Event) -> Answer:
    if cancelled.is_set():
        return Answer(pid, error=UserError(f"pid {pid}: interrupted", kind="interrupted"))
    try:
        processes.check_readable(pid)
        started, was_stopped = processes.start_time(pid), processes.state(pid) == "T"
        killed = True
        try:
            answer = _ask(gdb, pid, request, cancelled)
            killed = False
            return Answer(pid, answer)
        finally:
            processes.restore_state(pid, started, was_stopped, killed=killed)
    except (UserError, OSError) as error:
        return Answer(pid, error=as_user_error(error))


def _ask(gdb: str, pid: int, request: Request, cancelled: threading.Event) -> str:
    """Runs one gdb; returns the body of its answer."""
    command = [gdb, "-nx", "-nh", "-q", "-batch"]
    for setting in _SETTINGS:
        command += ["-iex", setting]
    command += ["-x", str(SCRIPT)]
    request_read, request_write = os.pipe()
    result_read, result_write = os.pipe()
    environment = dict(os.environ)
    environment.update(
        MPI_QUEUES_REQUEST_FD=str(request_read),
        MPI_QUEUES_RESULT_FD=str(result_write),
        # gdb's Python is the distribution's: nothing of another environment may reach it.
        PYTHONDONTWRITEBYTECODE="1",
    )
    for name in ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "DEBUGINFOD_URLS"):
        environment.pop(name, None)
    try:
        with tempfile.TemporaryFile() as chatter:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=chatter,
                stderr=chatter,
                pass_fds=(request_read, result_write),
                env=environment,
                # Ctrl-C goes to us alone, and we see to it that gdb detaches.
                start_new_session=True,
            )
            os.close(request_read)
            os.close(result_write)
            request_read = result_write = -1
            deadline = time.monotonic() + request.timeout
            try:
                _send(request_write, _request_of(pid, request))
                os.close(request_write)
                request_write = -1
                answer = _receive(result_read, child, deadline, cancelled)
            finally:
                status = _end(child, deadline, cancelled)
            if cancelled.is_set():
                raise UserError(f"pid {pid}: interrupted", kind="interrupted")
            return _body(pid, answer, status, request, chatter)
    finally:
        for descriptor in (request_read, request_write, result_read, result_write):
            if descriptor >= 0:
                os.close(descriptor)


def _request_of(pid: int, request: Request) -> bytes:
    content: Dict[str, Any] = {
        "pid": pid,
        "action": request.action,
        "source": request.source,
        "plugin": request.plugin,
        "queues": request.queues,
        # A plug-in that takes too long is ended while there is time left to tell what it said.
        "timeout": max(0.5, request.timeout * 0.8),
    }
    return json.dumps(content).encode()


def _send(descriptor: int, data: bytes) -> None:
    try:
        os.write(descriptor, data)
    except BrokenPipeError:
        # gdb ended at once; its output says why.
        return


def _has_exited(child: subprocess.Popen[bytes]) -> bool:
    """Whether gdb has ended. It is not reaped yet, so that its number still means it and its process group."""
    return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _receive(
    descriptor: int, child: subprocess.Popen[bytes], deadline: float, cancelled: threading.Event
) -> Optional[bytes]:
    """All that comes until the other end closes or gdb ends; None where time ran out or the user interrupted."""
    pieces: List[bytes] = []
    size = 0
    while not cancelled.is_set():
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        ended = _has_exited(child)
        ready, _, _ = select.select([descriptor], [], [], 0 if ended else min(left, 0.1))
        if not ready:
            if ended:
                # Somebody else still holds the other end: a child of a gdb that was killed.
                return b"".join(pieces)
            continue
        piece = os.read(descriptor, 1 << 20)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
        size += len(piece)
        if size > _MAX_ANSWER:
            return None
    return None


def _end(child: subprocess.Popen[bytes], deadline: float, cancelled: threading.Event) -> int:
    """Waits for gdb to end, and ends it where it does not; it detaches on SIGTERM, the kernel does so on SIGKILL."""
    while not _has_exited(child) and time.monotonic() < deadline and not cancelled.is_set():
        time.sleep(0.02)
    for number in (signal.SIGTERM, signal.SIGKILL):
        if not _has_exited(child):
            os.kill(child.pid, number)
            until = time.monotonic() + _GRACE
            while not _has_exited(child) and time.monotonic() < until:
                time.sleep(0.02)
    # gdb tries ptrace on children of its own when it attaches; killed just then, it leaves a stopped one behind. They
    # are in its process group, whose number is its own until it is reaped.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    return child.wait()


def _body(pid: int, answer: Optional[bytes], status: int, request: Request, chatter: IO[bytes]) -> str:
    if answer is None:
        raise UserError(
            f"pid {pid}: not read within {request.timeout:g} seconds; it was left running",
            help="allow more time with --timeout SECONDS",
            kind="timeout",
        )
    head, _, body = answer.partition(b"\n")
    try:
        said = json.loads(head) if head else None
    except ValueError:
        said = None
    if not isinstance(said, dict):
        raise _died(pid, status, chatter)
    if "error" in said:
        if _is_gone(pid):
            raise _ended(pid)
        error, kind = str(said["error"]), str(said.get("kind", "error"))
        raise UserError(
            error if str(pid) in error else f"pid {pid}: {error}", help=str(said.get("help", "")), kind=kind
        )
    return body.decode("utf-8", "replace")


def _died(pid: int, status: int, chatter: IO[bytes]) -> UserError:
    """gdb ended without an answer."""
    text = _last_output(chatter)
    if "Python scripting is not supported" in text or "not supported in this copy of GDB" in text:
        return UserError(
            "this gdb was built without Python, which mpi-queues needs",
            help="type: sudo apt install gdb (gdb-minimal has no Python)",
            kind="no_gdb",
        )
    if _is_gone(pid):
        return _ended(pid)
    how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
    return UserError(f"pid {pid}: gdb {how} without an answer" + (f"; it said:\n{text}" if text else ""), kind="no_gdb")


def _is_gone(pid: int) -> bool:
    """Also a process that its parent has not waited for yet."""
    return processes.state(pid) in ("", "Z", "X")


def _ended(pid: int) -> UserError:
    return UserError(
        f"pid {pid}: the process ended while it was read",
        help="to find the ranks that are left, type: pgrep -af PROGRAM",
        kind="gone",
    )


def _last_output(chatter: IO[bytes]) -> str:
    size = chatter.seek(0, os.SEEK_END)
    chatter.seek(max(0, size - _MAX_CHATTER))
    text = chatter.read(_MAX_CHATTER).decode("utf-8", "replace")
    return "\n".join("".join(char if char.isprintable() else "?" for char in line) for line in text.splitlines())


def split_answers(answers: Sequence[Answer]) -> Tuple[List[Answer], List[UserError]]:
    """Those that have a text, and the errors of the others."""
    return [answer for answer in answers if answer.error is None], [
        answer.error for answer in answers if answer.error is not None
    ]
