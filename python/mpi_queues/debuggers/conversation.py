"""One question to a debugger that was started for it, and its answer.

The request goes in through a pipe and the answer comes back through another: the debugger's own output is its own.
"""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import threading
import time
from dataclasses import dataclass
from typing import IO, Callable, Optional

from ..system import processes
from .ending import end, has_exited
from .invocation import Launcher
from .pipes import Chatter, Ends
from .spool import Spool

#: How long nothing else is looked after, in seconds.
_SOON = 0.1

#: An answer larger than this is not one of ours.
_MAX_ANSWER = 1 << 40

#: Bytes of memory that a debugger may use however little is free.
_LEAST_MEMORY = 2 << 30


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


@dataclass(frozen=True)
class Progress:
    """How it is seen that a debugger with many things to do gets on with them."""

    #: Something that is another whenever one more thing is done.
    mark: Callable[[], object]
    #: How long it may stay the same, in seconds.
    limit: float


def converse(
    debugger: Launcher,
    request: bytes,
    timeout: float,
    cancelled: threading.Event,
    received: Callable[[bytes], None],
    spool: Optional[str] = None,
    *,
    progress: Optional[Progress] = None,
) -> Reply:
    """Runs one debugger and waits until it has ended, at most ``timeout`` seconds, whatever it says and does meanwhile:
    so long processes may stand that it has stopped.

    ``received`` is given each piece of the answer; ``spool`` is the directory in which the answer is kept.
    ``progress``: the debugger has many things to do, what it has done when time runs out is kept, and it is ended
    earlier where it gets on with nothing.

    Raises:
        OSError: where the debugger cannot be started, or the answer not be kept; it has ended then.
    """
    request_read, request_write = os.pipe()
    result_read, result_write = os.pipe()
    environment = debugger.environment()
    environment.update(MPI_QUEUES_REQUEST_FD=str(request_read), MPI_QUEUES_RESULT_FD=str(result_write))
    answer: Optional[Spool] = None
    try:
        answer = Spool(spool)
        chatter = Chatter()
        try:
            child = subprocess.Popen(
                debugger.command,
                stdin=subprocess.DEVNULL,
                stdout=chatter.end,
                stderr=chatter.end,
                pass_fds=(request_read, result_write),
                env=environment,
                # Ctrl-C goes to us alone, and we see to it that the debugger detaches.
                start_new_session=True,
                **(debugger.rights.of_child() if debugger.rights is not None else {}),
            )
        finally:
            chatter.started()
        _bound_memory(child.pid)
        if progress is not None:
            _prefer(child.pid)
        os.close(request_read)
        os.close(result_write)
        request_read = result_write = -1
        deadline = time.monotonic() + timeout
        # Where anything goes wrong it is ended at once: what it has stopped stands until then.
        whole = False
        try:
            ends, request_write = Ends(request_write, result_read, request), -1
            with contextlib.closing(ends):
                whole = _exchange(ends, child, deadline, cancelled, answer, received, progress)
        finally:
            status = end(child, deadline if whole else 0.0, cancelled, debugger.signals_to_end)
        if not whole and (progress is None or cancelled.is_set()):
            answer.close()
            return Reply(None, status, "", whole)
        answer.finish(time.monotonic() + timeout, cancelled)
        answer.file.seek(0)
        return Reply(answer.file, status, chatter.last(), whole)
    except BaseException:
        if answer is not None:
            answer.close()
        raise
    finally:
        for descriptor in (request_read, request_write, result_read, result_write):
            if descriptor >= 0:
                os.close(descriptor)


def _bound_memory(pid: int) -> None:
    """Damaged lengths in a core file or a program make debuggers ask for any amount of memory. Where the machine has
    none left the kernel ends processes, the ranks among them. Files that are mapped do not count (RLIMIT_DATA)."""
    allowed = max(_LEAST_MEMORY, processes.free_memory() // 2)
    with contextlib.suppress(OSError, ValueError):
        soft, hard = resource.prlimit(pid, resource.RLIMIT_DATA)
        if soft == resource.RLIM_INFINITY or soft > allowed:
            resource.prlimit(pid, resource.RLIMIT_DATA, (allowed, hard))


def _prefer(pid: int) -> None:
    """Ranks that wait at full speed leave a debugger as little of a processor as each of them has, until they are
    stopped. Only root may put it before them; for others it takes longer."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, pid, -10)
        # Where the kernel shares processors out between sessions first (sched(7), autogroup): it has one of its own.
        with open(f"/proc/{pid}/autogroup", "w", encoding="ascii") as file:
            file.write("-10")


def _exchange(
    ends: Ends,
    child: subprocess.Popen[bytes],
    deadline: float,
    cancelled: threading.Event,
    answer: Spool,
    received: Callable[[bytes], None],
    progress: Optional[Progress],
) -> bool:
    """Sends the request, and keeps all that comes until the other end closes or the debugger ends; False where time ran
    out, on Ctrl-C, and where it does not get on.

    Raises:
        OSError: where what comes cannot be kept.
    """
    size = 0
    seen, since = progress.mark() if progress is not None else None, time.monotonic()
    while not cancelled.is_set():
        now = time.monotonic()
        if progress is not None and (mark := progress.mark()) != seen:
            seen, since = mark, now
        if now >= deadline or (progress is not None and now - since >= progress.limit):
            return False
        if answer.error is not None:
            raise answer.error
        ended = has_exited(child)
        if answer.full:
            time.sleep(_SOON)
            continue
        if not ends.wait(0 if ended else min(deadline - now, _SOON)):
            if ended:
                # Somebody else still holds the other end: a child of a debugger that was killed.
                return True
            continue
        piece = ends.read()
        if not piece:
            return True
        answer.write(piece)
        size += len(piece)
        received(piece)
        if size > _MAX_ANSWER:
            return False
    return False
