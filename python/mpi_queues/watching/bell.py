"""Waits for what comes first: a time, the end of a process, or somebody who rings."""

from __future__ import annotations

import contextlib
import os
import select
import time
from typing import Optional

from ..system import processes

#: Where the kernel does not tell when a process ends it is asked so often, in seconds.
_ASKED_EVERY = 1.0


class Bell:
    """May be rung from a signal's function, and from another thread."""

    def __init__(self, pid: Optional[int] = None) -> None:
        """``pid`` is the process whose end is waited for as well."""
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        self._pid = pid
        self._started = None if pid is None else processes.start_time(pid)
        self._end: Optional[int] = None
        if pid is not None:
            # Linux 5.3; OSError also where it has ended.
            with contextlib.suppress(OSError, AttributeError):
                self._end = os.pidfd_open(pid)

    @property
    def write_end(self) -> int:
        """What is written to it rings: for ``signal.set_wakeup_fd``."""
        return self._write

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended."""
        if self._pid is None:
            return False
        return processes.has_ended(self._pid) or processes.start_time(self._pid) != self._started

    def ring(self) -> None:
        """Ends the waiting, now or when it next begins."""
        with contextlib.suppress(OSError):
            os.write(self._write, b"!")

    def wait(self, seconds: float) -> None:
        """Waits so long at most."""
        deadline = time.monotonic() + seconds
        poll = select.poll()
        poll.register(self._read, select.POLLIN)
        if self._end is not None:
            poll.register(self._end, select.POLLIN)
        while True:
            left = deadline - time.monotonic()
            if self._pid is not None and self._end is None:
                left = min(left, _ASKED_EVERY)
            # In milliseconds.
            if poll.poll(max(0, int(left * 1000) + 1)):
                with contextlib.suppress(OSError):
                    os.read(self._read, 4096)
                return
            if time.monotonic() >= deadline or self.has_ended:
                return

    def close(self) -> None:
        """Gives back what it holds."""
        for descriptor in (self._read, self._write, self._end):
            if descriptor is not None:
                os.close(descriptor)


def await_end(pid: int, started: Optional[int], seconds: float) -> bool:
    """Waits until a process has ended, so long at most; whether it has."""
    deadline = time.monotonic() + seconds
    while not processes.has_ended(pid) and processes.start_time(pid) == started:
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.05)
    return True
