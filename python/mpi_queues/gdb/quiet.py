"""gdb's settings and its talk while several of its commands are run for one of ours, and as they were afterwards."""

from __future__ import annotations

import contextlib
import os
import signal
from types import FrameType
from typing import Any, Dict, Iterator, Optional

import gdb

from .. import _native

#: Nothing may ask a question whose text nobody would see, and the command tells the whole at its end.
_SILENT = {
    "confirm": "off",
    "pagination": "off",
    "print inferior-events": "off",
    "print thread-events": "off",
}

#: What the way to MPIR_Breakpoint relies on: only the launcher runs, and it is followed through its execs.
FOLLOWING = {
    "follow-fork-mode": "parent",
    "follow-exec-mode": "same",
    "detach-on-fork": "on",
    "scheduler-locking": "off",
    "schedule-multiple": "off",
    "stop-on-solib-events": "0",
}


@contextlib.contextmanager
def quietly(further: Optional[Dict[str, str]] = None) -> Iterator[None]:
    """Without questions and events of gdb, with ``further`` settings."""
    wanted = {**_SILENT, **(further or {})}
    if shown("debuginfod enabled") == "ask":
        # gdb would ask in the middle of attaching.
        wanted["debuginfod enabled"] = "off"
    with settings(wanted):
        yield


@contextlib.contextmanager
def settings(wanted: Dict[str, str]) -> Iterator[None]:
    """gdb's settings as ``wanted``, then as they were. Those that this gdb does not have are left out."""
    before: Dict[str, str] = {}
    try:
        for name, value in wanted.items():
            old = shown(name)
            if old is None or old == value:
                continue
            before[name] = old
            change(name, value)
        yield
    finally:
        for name, value in before.items():
            change(name, value)


def shown(name: str) -> Optional[str]:
    """The value of a setting as it is typed, None where there is no such one."""
    try:
        value: Any = gdb.parameter(name)
    except RuntimeError:
        return None
    if isinstance(value, bool):
        return "on" if value else "off"
    return None if value is None else str(value)


def change(name: str, value: str) -> None:
    """Changes a setting; one that gdb refuses to change stays."""
    with contextlib.suppress(gdb.error):
        gdb.execute(f"set {name} {value}", to_string=True)


#: Whether :func:`uninterrupted` is on, and whether somebody typed Ctrl-C since.
_on = False
_came = False


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """A Ctrl-C counts where :func:`take_interrupt` asks for it, and nowhere else: what it was to stop is half done.

    One that nobody has taken by the end came too late.
    """
    global _on, _came
    if _on:
        yield
        return
    # One from before counts now, while nothing has been changed.
    unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    handler = _native.KeptHandler()
    # gdb has its own handler in C and tells this one of Python, as Python's own does.
    ours = signal.signal(signal.SIGINT, _note)
    _on, _came = True, False
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        yield
    finally:
        # In this order: one that is pending comes to our handler.
        signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
        signal.signal(signal.SIGINT, ours or signal.default_int_handler)
        handler.restore()
        _on = False


def _note(number: int, frame: Optional[FrameType]) -> None:
    global _came
    _came = True


def take_interrupt() -> bool:
    """Whether somebody typed Ctrl-C within :func:`uninterrupted`; it counts no more after that."""
    global _came
    if _on and signal.SIGINT in signal.sigpending():
        signal.sigtimedwait({signal.SIGINT}, 0)
        _came = True
    came, _came = _came, False
    return came


def take_back_interrupt(pid: int) -> None:
    """Sees to it that a process does not end by a Ctrl-C that gdb handed on to it while it attached (gdb 13, inflow.c,
    child_pass_ctrlc): it counts as one of ours. Blocking the signal is not enough: gdb waits for threads with the mask
    that it began with (linux-nat.c, wait_for_signal)."""
    global _came
    # A process that has ended meanwhile, or that gdb does not hold, cannot be asked.
    with contextlib.suppress(OSError):
        _came = _native.take_back_interrupt(pid) or _came


class Mute:
    """Takes away what gdb prints of stops by itself: ``to_string`` of ``gdb.execute`` does not have it.

    A process that gdb starts meanwhile would have no output either: to be switched on after its start.
    """

    def __init__(self) -> None:
        self._kept: Optional[int] = None

    def on(self, *, flush: bool = True) -> None:
        """From here on. Without ``flush`` it asks nothing of gdb, for other threads than gdb's."""
        if self._kept is not None:
            return
        if flush:
            gdb.flush()
        try:
            nothing = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        except OSError:
            # No file is left to open: then the stops are shown.
            return
        self._kept = os.dup(1)
        os.set_inheritable(self._kept, False)
        os.dup2(nothing, 1)
        os.close(nothing)

    def off(self) -> None:
        """Up to here."""
        if self._kept is None:
            return
        gdb.flush()
        os.dup2(self._kept, 1)
        os.close(self._kept)
        self._kept = None

    def __enter__(self) -> Mute:
        self.on()
        return self

    def __exit__(self, *_: object) -> None:
        self.off()
