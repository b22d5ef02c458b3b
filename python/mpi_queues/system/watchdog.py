"""Ends what does not end: a reading whose core stands in a lock, in a loop, or in a file system that does not answer.

Processes that stand go on first, whatever reads them. Then whoever waits goes on without the rest. The command itself
ends soon after where not even that can be; Ctrl-C and SIGTERM end it so at any moment.
"""

from __future__ import annotations

import contextlib
import os
import signal
from typing import Callable, Iterator, Optional

from .. import _native

#: A command that cannot end by itself is ended so many seconds after a limit or a signal.
GRACE = 5.0
#: Seconds that do not pass.
_NEVER = 1e8

#: That of the command which runs, where it may be ended.
_of_command: Optional[_native.Watchdog] = None


@contextlib.contextmanager
def over_command() -> Iterator[None]:
    """For a command that only reads: it may be ended at any moment. Only in the main thread."""
    global _of_command
    watchdog = _native.Watchdog(_NEVER, GRACE)
    descriptor = watchdog.signals()
    assert descriptor is not None
    os.set_blocking(descriptor, False)
    previous = signal.set_wakeup_fd(descriptor, warn_on_full_buffer=False)
    _of_command = watchdog
    try:
        yield
    finally:
        _of_command = None
        signal.set_wakeup_fd(previous)
        watchdog.stop()


@contextlib.contextmanager
def over_reading() -> Iterator[Callable[[float], None]]:
    """While something is read: the function that is given sets a limit from now on, in seconds. At the limit all
    processes that stand go on; a command that may be ended is ended soon after, unless the limit was set anew."""
    watchdog, grace = (_of_command, GRACE) if _of_command is not None else (_native.Watchdog(_NEVER, _NEVER), _NEVER)
    try:
        yield lambda seconds: watchdog.renew(seconds, grace)
    finally:
        if watchdog is _of_command:
            watchdog.renew(_NEVER, grace)
        else:
            watchdog.stop()
