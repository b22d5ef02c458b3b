"""One question to a debugger that was started for it, and its answer.

The request goes in through a pipe and the answer comes back through another: the debugger's own output is its own.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from typing import IO, Callable, Optional, Sequence

from ..system import processes
from .invocation import Launcher
from .spool import Spool

#: How long a debugger that was told to end may take before it is killed.
_GRACE = 2.0
#: How long nothing else is looked after, in seconds.
_SOON = 0.1
#: So much of a request is given to the pipe at once.
_PIECE = 1 << 16

#: An answer larger than this is not one of ours.
_MAX_ANSWER = 1 << 40

#: Bytes of memory that a debugger may use however little is free.
_LEAST_MEMORY = 2 << 30

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
        chatter = _Chatter()
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
            ends, request_write = _Ends(request_write, result_read, request), -1
            with contextlib.closing(ends):
                whole = _exchange(ends, child, deadline, cancelled, answer, received, progress)
        finally:
            status = _end(child, deadline if whole else 0.0, cancelled, debugger.signals_to_end)
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


class _Chatter:
    """What a debugger says on its own: however much that is, it is taken, and only the end of it is kept."""

    def __init__(self) -> None:
        self._own, self.end = os.pipe()
        self._kept = b""
        self._thread = threading.Thread(target=self._take, daemon=True, name="chatter")

    def started(self) -> None:
        """The debugger has the other end, or could not be started."""
        os.close(self.end)
        self._thread.start()

    def _take(self) -> None:
        while piece := os.read(self._own, _PIECE):
            self._kept = (self._kept + piece)[-_MAX_CHATTER:]
        os.close(self._own)

    def last(self) -> str:
        """The end of what came; what a child of the debugger still holds open is not waited for."""
        self._thread.join(1.0)
        text = self._kept.decode("utf-8", "replace")
        return "\n".join("".join(char if char.isprintable() else "?" for char in line) for line in text.splitlines())


class _Ends:
    """Our ends of the two pipes. Neither is ever waited for longer than is said."""

    def __init__(self, request: int, result: int, content: bytes) -> None:
        self._request, self._result = request, result
        self._left = memoryview(content)
        os.set_blocking(request, False)

    def wait(self, seconds: float) -> bool:
        """Whether there is something to read, soon; sends what can be sent meanwhile."""
        ready, writable, _ = select.select([self._result], [self._request] if self._request >= 0 else [], [], seconds)
        if writable:
            try:
                self._left = self._left[os.write(self._request, self._left[:_PIECE]) :]
            except BlockingIOError:
                pass
            except BrokenPipeError:
                # The debugger ended at once; its output says why.
                self._left = self._left[:0]
            if not self._left:
                self.close()
        return bool(ready)

    def read(self) -> bytes:
        """What has come; nothing where the other end is closed."""
        return os.read(self._result, 1 << 20)

    def close(self) -> None:
        """All that there was to send is sent, or will not be."""
        if self._request >= 0:
            os.close(self._request)
        self._request = -1


def _has_exited(child: subprocess.Popen[bytes]) -> bool:
    """Whether the debugger has ended. It is not reaped yet, so that its number still means it and its process group."""
    return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _exchange(
    ends: _Ends,
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
        ended = _has_exited(child)
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


def _end(
    child: subprocess.Popen[bytes], deadline: float, cancelled: threading.Event, signals: Sequence[signal.Signals]
) -> int:
    """Waits for the debugger to end, and ends it where it does not; the kernel detaches where it is killed."""
    while not _has_exited(child) and time.monotonic() < deadline and not cancelled.is_set():
        time.sleep(0.02)
    told = False
    for number in signals:
        if not _has_exited(child):
            told = True
            os.kill(child.pid, number)
            until = time.monotonic() + _GRACE
            while not _has_exited(child) and time.monotonic() < until:
                time.sleep(0.02)
    # gdb tries ptrace on children of its own when it attaches; killed just then, it leaves a stopped one behind. They
    # are in its process group, whose number is its own until it is reaped.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    if told:
        _end_session(child.pid)
    if not _has_exited(child):
        # It waits in the kernel, for a device perhaps, and ends when that answers. So long nobody can help.
        return -signal.SIGKILL
    return child.wait()


def _end_session(leader: int) -> None:
    """What the debugger has started has its own groups (lldb's server), and may hang itself while it holds processes:
    it is given a moment to see that nobody is there any more. The leader is not reaped, so the session's number is its
    own."""
    until = time.monotonic() + 1.0
    while members := processes.in_session(leader):
        if time.monotonic() >= until:
            for pid in members:
                processes.send(pid, signal.SIGKILL)
            return
        time.sleep(0.05)
