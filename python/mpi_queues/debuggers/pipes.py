"""The pipes to a debugger that was started for one question. Nobody ever waits at them for longer than is said."""

from __future__ import annotations

import os
import select
import threading

#: So much of a request is given to the pipe at once.
_PIECE = 1 << 16


#: How much of the debugger's own output is kept for an error.
_MAX_CHATTER = 4000


class Chatter:
    """What a debugger says on its own: however much that is, it is taken, and only the end of it is kept."""

    def __init__(self) -> None:
        self._own, self.end = os.pipe()
        self._kept = b""
        self._thread = threading.Thread(target=self._take, daemon=True, name="chatter")

    def started(self) -> None:
        """The debugger has the other end, or could not be started."""
        os.close(self.end)
        self._thread.start()

    def _take(self) -> None:
        while piece := os.read(self._own, _PIECE):
            self._kept = (self._kept + piece)[-_MAX_CHATTER:]
        os.close(self._own)

    def last(self) -> str:
        """The end of what came; what a child of the debugger still holds open is not waited for."""
        self._thread.join(1.0)
        text = self._kept.decode("utf-8", "replace")
        return "\n".join("".join(char if char.isprintable() else "?" for char in line) for line in text.splitlines())


class Ends:
    """Our ends of the two pipes. Neither is ever waited for longer than is said."""

    def __init__(self, request: int, result: int, content: bytes) -> None:
        self._request, self._result = request, result
        self._left = memoryview(content)
        os.set_blocking(request, False)

    def wait(self, seconds: float) -> bool:
        """Whether there is something to read, soon; sends what can be sent meanwhile."""
        ready, writable, _ = select.select([self._result], [self._request] if self._request >= 0 else [], [], seconds)
        if writable:
            try:
                self._left = self._left[os.write(self._request, self._left[:_PIECE]) :]
            except BlockingIOError:
                pass
            except BrokenPipeError:
                # The debugger ended at once; its output says why.
                self._left = self._left[:0]
            if not self._left:
                self.close()
        return bool(ready)

    def read(self) -> bytes:
        """What has come; nothing where the other end is closed."""
        return os.read(self._result, 1 << 20)

    def close(self) -> None:
        """All that there was to send is sent, or will not be."""
        if self._request >= 0:
            os.close(self._request)
        self._request = -1
