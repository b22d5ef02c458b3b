"""The end of a debugger that was started for one question."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from typing import Sequence

from ..system import processes

#: How long a debugger that was told to end may take before it is killed.
_GRACE = 2.0


def has_exited(child: subprocess.Popen[bytes]) -> bool:
    """Whether the debugger has ended. It is not reaped yet, so that its number still means it and its process group."""
    return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def end(
    child: subprocess.Popen[bytes], deadline: float, cancelled: threading.Event, signals: Sequence[signal.Signals]
) -> int:
    """Waits for the debugger to end, and ends it where it does not; the kernel detaches where it is killed."""
    while not has_exited(child) and time.monotonic() < deadline and not cancelled.is_set():
        time.sleep(0.02)
    told = False
    for number in signals:
        if not has_exited(child):
            told = True
            os.kill(child.pid, number)
            until = time.monotonic() + _GRACE
            while not has_exited(child) and time.monotonic() < until:
                time.sleep(0.02)
    # gdb tries ptrace on children of its own when it attaches; killed just then, it leaves a stopped one behind. They
    # are in its process group, whose number is its own until it is reaped.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    if told:
        _end_session(child.pid)
    if not has_exited(child):
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
