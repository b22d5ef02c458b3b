"""Writes to an engine without waiting for it: one that hangs must not hold up whoever reads from it."""

from __future__ import annotations

import contextlib
import queue
import threading
from typing import IO, Optional

#: Bytes that are written at a time.
_PIECE = 64 << 10


class Writer:
    """A thread that writes to a stream and closes it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._waiting: queue.SimpleQueue[Optional[bytes]] = queue.SimpleQueue()
        self._ends = False
        threading.Thread(target=self._run, name="engine's input", daemon=True).start()

    def write(self, data: bytes) -> None:
        """Writes it in its turn; where that cannot be written, the engine has ended, which its silence tells."""
        self._waiting.put(data)

    def close(self) -> None:
        """Closes the stream as soon as what is being written is."""
        self._ends = True
        self._waiting.put(None)

    def _run(self) -> None:
        with contextlib.suppress(OSError), self._stream:
            while True:
                data = self._waiting.get()
                if data is None:
                    return
                rest = memoryview(data)
                while rest:
                    if self._ends:
                        return
                    rest = rest[self._stream.write(rest[:_PIECE]) :]
