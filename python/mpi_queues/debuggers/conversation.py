"""One question to a debugger that was started for it, and its answer.

The request goes in through a pipe and the answer comes back through another: the debugger's own output is its own.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from typing import IO, Callable, Optional

from .launchers import Launcher

#: How long a debugger that was told to end may take before it is killed.
_GRACE = 3.0

#: An answer larger than this is not one of ours.
_MAX_ANSWER = 1 << 40

#: How much of the debugger's own output is kept for an error.
_MAX_CHATTER = 4000


@dataclass
class Reply:
    """What came back."""

    #: A temporary file, at its beginning; None where time ran out or on Ctrl-C, but for a debugger that has many things
    #: to do: what it had done is kept.
    answer: Optional[IO[bytes]]
    #: How the debugger ended, as ``Popen.returncode``.
    status: int
    #: The end of what it said on its own.
    chatter: str
    #: Whether all came that the debugger had to say.
    whole: bool = True


def converse(
    debugger: Launcher,
    request: bytes,
    timeout: float,
    cancelled: threading.Event,
    received: Callable[[bytes], None],
    spool: Optional[str] = None,
    *,
    each: bool = False,
) -> Reply:
    """Runs one debugger and waits until it has ended, at most ``timeout`` seconds, or as long after each sign of life.

    ``received`` is given each piece of the answer; ``spool`` is the directory in which the answer is kept. ``each``:
    the debugger has many things to do, each of which may take ``timeout`` seconds.

    Raises:
        OSError: where the debugger cannot be started, or the answer not be kept.
    """
    request_read, request_write = os.pipe()
    result_read, result_write = os.pipe()
    environment = debugger.environment()
    environment.update(MPI_QUEUES_REQUEST_FD=str(request_read), MPI_QUEUES_RESULT_FD=str(result_write))
    answer = tempfile.TemporaryFile(dir=spool)  # noqa: SIM115 - it is the caller's
    try:
        with tempfile.TemporaryFile() as chatter:
            child = subprocess.Popen(
                debugger.command,
                stdin=subprocess.DEVNULL,
                stdout=chatter,
                stderr=chatter,
                pass_fds=(request_read, result_write),
                env=environment,
                # Ctrl-C goes to us alone, and we see to it that the debugger detaches.
                start_new_session=True,
            )
            if each:
                _prefer(child.pid)
            os.close(request_read)
            os.close(result_write)
            request_read = result_write = -1
            deadline = time.monotonic() + timeout
            try:
                _send(request_write, request)
                os.close(request_write)
                request_write = -1
                whole = _receive(
                    result_read, child, deadline, cancelled, answer, received, renewed=timeout if each else None
                )
                if each:
                    # It has just answered, and lets go of what it held.
                    deadline = time.monotonic() + timeout
            finally:
                status = _end(child, deadline, cancelled)
            if not whole and (not each or cancelled.is_set()):
                answer.close()
                return Reply(None, status, "", whole)
            answer.seek(0)
            return Reply(answer, status, _last_output(chatter), whole)
    except BaseException:
        answer.close()
        raise
    finally:
        for descriptor in (request_read, request_write, result_read, result_write):
            if descriptor >= 0:
                os.close(descriptor)


def _prefer(pid: int) -> None:
    """Ranks that wait at full speed leave a debugger as little of a processor as each of them has, until they are
    stopped. Only root may put it before them; for others it takes longer."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, pid, -10)
        # Where the kernel shares processors out between sessions first (sched(7), autogroup): it has one of its own.
        with open(f"/proc/{pid}/autogroup", "w", encoding="ascii") as file:
            file.write("-10")


def _send(descriptor: int, data: bytes) -> None:
    try:
        os.write(descriptor, data)
    except BrokenPipeError:
        # The debugger ended at once; its output says why.
        return


def _has_exited(child: subprocess.Popen[bytes]) -> bool:
    """Whether the debugger has ended. It is not reaped yet, so that its number still means it and its process group."""
    return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _receive(
    descriptor: int,
    child: subprocess.Popen[bytes],
    deadline: float,
    cancelled: threading.Event,
    answer: IO[bytes],
    received: Callable[[bytes], None],
    renewed: Optional[float] = None,
) -> bool:
    """Keeps all that comes until the other end closes or the debugger ends; False where time ran out or on Ctrl-C."""
    size = 0
    while not cancelled.is_set():
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        ended = _has_exited(child)
        ready, _, _ = select.select([descriptor], [], [], 0 if ended else min(left, 0.1))
        if not ready:
            if ended:
                # Somebody else still holds the other end: a child of a debugger that was killed.
                return True
            continue
        piece = os.read(descriptor, 1 << 20)
        if not piece:
            return True
        answer.write(piece)
        size += len(piece)
        received(piece)
        if renewed is not None:
            deadline = time.monotonic() + renewed
        if size > _MAX_ANSWER:
            return False
    return False


def _end(child: subprocess.Popen[bytes], deadline: float, cancelled: threading.Event) -> int:
    """Waits for the debugger to end, and ends it where it does not; the kernel detaches where it is killed."""
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


def _last_output(chatter: IO[bytes]) -> str:
    size = chatter.seek(0, os.SEEK_END)
    chatter.seek(max(0, size - _MAX_CHATTER))
    text = chatter.read(_MAX_CHATTER).decode("utf-8", "replace")
    return "\n".join("".join(char if char.isprintable() else "?" for char in line) for line in text.splitlines())
