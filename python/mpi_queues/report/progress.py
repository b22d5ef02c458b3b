"""A line on the terminal that says how far something long is, and goes away again."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import Callable, Sequence

from ..system.output import ours
from .words import clean

#: Return to the start of the line and clear it.
CLEAR = "\r\x1b[K"


#: So many nodes are named.
_MAX_NAMED = 4


class ProgressLine:
    """Shown on a terminal only, and only of what takes longer than half a second. Debuggers replace ``sys.stderr`` by a
    stream that pages: this writes to the terminal itself."""

    def __init__(self, descriptor: int = 2, delay: float = 0.5) -> None:
        self._descriptor = descriptor
        self._delay = delay
        self._next = 0.0
        self._begun = False
        self._shown = False

    def tell(self, text: str) -> None:
        """Shows a text in place of the one before; an empty one takes it away."""
        now = time.monotonic()
        if not text:
            self._begun = False
            if self._shown:
                self._shown = False
                self._write(CLEAR)
            return
        if not self._begun:
            self._begun, self._next = True, now + self._delay
        if now < self._next or not os.isatty(self._descriptor):
            return
        self._next = now + 0.1
        self._shown = True
        self._write(CLEAR + clean(text))

    def _write(self, text: str) -> None:
        # A terminal that cannot be written to has nobody who reads.
        with contextlib.suppress(OSError):
            os.write(self._descriptor, text.encode("utf-8", "replace"))


def of_nodes(quiet: bool = False) -> Callable[[int, int, int, Sequence[str]], None]:
    """Tells on a terminal how many nodes have answered, and which are late."""
    say = _on_terminal(quiet)

    def tell(done: int, total: int, ranks: int, late: Sequence[str]) -> None:
        named = ", ".join(late[:_MAX_NAMED]) + (" …" if len(late) > _MAX_NAMED else "")
        say("" if done == total else f"{done} of {total} nodes have answered, {ranks} ranks; waiting for {named}")

    return tell


def of_processes(quiet: bool) -> Callable[[int, int], None]:
    """Tells on a terminal how far the reading is."""
    say = _on_terminal(quiet)

    def tell(done: int, total: int) -> None:
        say("" if done == total else f"reading process {done + 1} of {total} …")

    return tell


def _on_terminal(quiet: bool) -> Callable[[str], None]:
    """Shows a line on a terminal, in place of the last one; silent elsewhere."""
    if quiet or not sys.stderr.isatty():
        return lambda line: None

    def say(line: str) -> None:
        sys.stderr.write(ours(CLEAR) + line)
        sys.stderr.flush()

    return say
