"""Stands as the launcher stands, so that the shell knows, and goes on when it goes on.

Who lets a shell's job go on lets its whole group go on, and us. Somebody else may send SIGCONT to the launcher alone,
or end it: a process that has stopped learns neither. A child of ours does, which runs for so long only.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
import warnings
from typing import NoReturn, Optional

from ..system import processes

#: Seconds between two looks at a launcher that has stopped.
_LOOKED_EVERY = 0.1

_STOPPED = ("T", "t")


def stand(launcher: int, number: int) -> None:
    """Stops this process by the signal that has stopped the launcher, a child of it, until that does not stand any
    more, or somebody lets us go on."""
    waker = _start_waker(launcher)
    if waker is None:
        # Nobody would let us go on.
        return
    try:
        _stop(number)
    finally:
        with contextlib.suppress(OSError):
            os.kill(waker, signal.SIGKILL)
            os.waitpid(waker, 0)


def _stop(number: int) -> None:
    """A shell tells a job that was stopped by its terminal from others."""
    if number == signal.SIGSTOP:
        os.kill(os.getpid(), number)
        return
    before = signal.signal(number, signal.SIG_DFL)
    try:
        os.kill(os.getpid(), number)
    finally:
        signal.signal(number, before)


def _start_waker(launcher: int) -> Optional[int]:
    """The child that lets us go on; None where none can be started."""
    above = os.getpid()
    # What comes for us is not for it.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        with warnings.catch_warnings():
            # Of a fork beside threads: the child calls nothing that could wait for them.
            warnings.simplefilter("ignore")
            waker = os.fork()
        if waker == 0:
            _wake(above, launcher)
    except OSError:
        return None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    return waker


def _wake(above: int, launcher: int) -> NoReturn:
    """Lets the process above go on when its launcher does, or has ended. It ends with that, and is killed when that
    goes on."""
    try:
        # Out of the group that a shell stops.
        os.setsid()
        while os.getppid() == above:
            if processes.state(launcher) not in _STOPPED and processes.state(above) in _STOPPED:
                os.kill(above, signal.SIGCONT)
            time.sleep(_LOOKED_EVERY)
    finally:
        os._exit(0)
