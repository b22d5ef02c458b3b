"""Where the answer of a debugger is kept while processes stand: the disk may be full, or take its time.

Who reads the debugger's pipe does not write: a disk that does not answer must not hold up the clock.
"""

from __future__ import annotations

import contextlib
import queue
import tempfile
import threading
import time
from typing import IO, Optional

#: So many bytes may wait for the disk; more wait in the debugger.
_MOST_WAITING = 256 << 20


def temporary_file(directory: Optional[str]) -> IO[bytes]:
    """A file without a name."""
    return tempfile.TemporaryFile(dir=directory)


class Spool:
    """A temporary file that a thread of its own writes to."""

    def __init__(self, directory: Optional[str]) -> None:
        """
        Raises:
            OSError: where there can be none.
        """
        self.file: IO[bytes] = temporary_file(directory)
        self._pieces: queue.SimpleQueue[Optional[bytes]] = queue.SimpleQueue()
        self._waiting = 0
        self._given_up = False
        self._lock = threading.Lock()
        self._error: Optional[OSError] = None
        # What a dead disk keeps for ever must not keep the command.
        self._thread = threading.Thread(target=self._write, daemon=True, name="spool")
        self._thread.start()

    @property
    def full(self) -> bool:
        """Whether the disk is so far behind that nothing more is to be taken now."""
        return self._waiting > _MOST_WAITING

    @property
    def error(self) -> Optional[OSError]:
        """Why nothing more can be written."""
        return self._error

    def write(self, piece: bytes) -> None:
        """Takes a piece; never waits."""
        with self._lock:
            self._waiting += len(piece)
        self._pieces.put(piece)

    def finish(self, deadline: float, cancelled: threading.Event) -> None:
        """Waits until all is written.

        Raises:
            OSError: where it cannot be, or not before the deadline.
        """
        self._pieces.put(None)
        while self._thread.is_alive() and time.monotonic() < deadline and not cancelled.is_set():
            self._thread.join(0.1)
        if self._error is not None:
            raise self._error
        if self._thread.is_alive() and not cancelled.is_set():
            raise TimeoutError("the disk does not take what was read")

    def close(self) -> None:
        """Gives it up; a file that is being written closes when that is over."""
        self._given_up = True
        self._pieces.put(None)
        self._thread.join(0.1)
        if not self._thread.is_alive():
            self._close()

    def _close(self) -> None:
        # What a full disk does not take any more is not wanted any more.
        with contextlib.suppress(OSError):
            self.file.close()

    def _write(self) -> None:
        while (piece := self._pieces.get()) is not None:
            if self._error is None and not self._given_up:
                try:
                    self.file.write(piece)
                except OSError as error:
                    self._error = error
            with self._lock:
                self._waiting -= len(piece)
        if self._given_up:
            self._close()
        elif self._error is None:
            try:
                self.file.flush()
            except OSError as error:
                self._error = error
