"""A line on the terminal that says how far something long is, and goes away again."""

from __future__ import annotations

import contextlib
import os
import time

from .words import clean

#: Return to the start of the line and clear it.
CLEAR = "\r\x1b[K"


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
