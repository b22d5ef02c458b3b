"""Ctrl-C while the command is not up yet, or about to end: one line, no traceback.

The package's first import: where it is the command that starts, half of the time until it reads its arguments passes
with imports. Where it is imported by others, their signals are theirs.
"""

import os
import signal
import sys

#: What shells say of a command that Ctrl-C ended.
INTERRUPTED = 128 + signal.SIGINT


def is_command() -> bool:
    """Whether this Python runs the command ``mpi-queues``."""
    arguments = getattr(sys, "argv", None) or [""]
    return os.path.basename(str(arguments[0])) == "mpi-queues"


def guard() -> None:
    """From now on Ctrl-C ends the command at once: nothing has begun, or all is done. Ignored where it was ignored."""
    if not is_command():
        return
    if signal.getsignal(signal.SIGINT) not in (signal.SIG_IGN, None):
        signal.signal(signal.SIGINT, end)
    _fill_standard_descriptors()


def _fill_standard_descriptors() -> None:
    """Of standard streams that are closed (``>&-``) the numbers are taken: what we open next must not become one."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)


def ready() -> None:
    """From now on Ctrl-C is a KeyboardInterrupt, as everywhere in Python."""
    if signal.getsignal(signal.SIGINT) is end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def end(number: int, frame: object) -> None:
    """For a signal that ends the command at once."""
    try:
        os.write(2, b"\nmpi-queues: interrupted\n")
    finally:
        os._exit(128 + number)


guard()
