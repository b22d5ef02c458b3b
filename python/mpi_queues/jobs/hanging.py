"""A watch over a job that was started here: where it hangs, whoever waits for it is told why."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Callable, List, Optional, Sequence

from ..errors import UserError
from ..request import Request
from ..system import processes
from ..system.output import in_lines
from ..targets.process import PidTarget
from ..watching.bell import Bell
from ..watching.files import Directory, duration
from ..watching.looks import Looks, Nothing
from ..watching.watcher import Alarm, Watcher

#: A signal that does nothing to who does not ask for it: it interrupts what the main thread waits for.
_SIGNAL = signal.SIGURG

#: Seconds in which the main thread has noticed.
_HEARD = 10.0


class Hang(UserError):
    """A job hangs; the message is its diagnosis."""


class HangWatch:
    """Looks at the ranks of a job from a thread of its own until it is closed.

    Where nothing of them has moved for so long, the diagnosis and a recording are written into the directory, and
    ``raises`` makes the exception that the main thread gets, wherever it stands; nobody gets it twice. Where that does
    not come to it the ranks are killed, so that whoever waits for their end gets that.
    """

    def __init__(
        self,
        pids: Sequence[int],
        after: float,
        directory: str,
        reading: threading.Lock,
        raises: Callable[[str], BaseException],
    ) -> None:
        """``reading`` is held while processes are read: only one may trace them."""
        self._directory = Directory(directory)
        self._looks = Looks(lambda: [PidTarget(pid) for pid in pids], Request())
        self._watcher = Watcher(self._looks, after)
        self._reading = reading
        self._raises = raises
        self._bell = Bell()
        self._closed = False
        self._message: Optional[str] = None
        self._main: Optional[int] = None
        self._before: object = None
        if threading.current_thread() is threading.main_thread():
            self._main = threading.get_ident()
            self._before = signal.signal(_SIGNAL, self._told)
        self._thread = threading.Thread(target=self._watch, name="hang-watch", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raises what is to be raised, once.

        Raises:
            BaseException: where the job hangs.
        """
        if self._message is not None:
            message, self._message = self._message, None
            self._bell.ring()
            raise self._raises(message)

    def close(self) -> None:
        """Ends the watch; what it has found :meth:`check` still raises."""
        if self._closed:
            return
        self._closed = True
        self._bell.ring()
        if threading.current_thread() is not self._thread:
            self._thread.join()
        if self._main is not None:
            signal.signal(_SIGNAL, self._before)  # type: ignore[arg-type]
        self._bell.close()

    def _told(self, number: int, frame: Optional[FrameType]) -> None:
        if not self._closed:
            self.check()

    def _watch(self) -> None:
        while not self._closed:
            try:
                with self._reading:
                    alarm = self._watcher.step()
                    message = None if alarm is None or self._closed else self._written(alarm)
            except (Nothing, UserError):
                message = None
            if message is not None:
                self._message = message
                self._interrupt()
                return
            if not self._closed:
                self._bell.wait(self._watcher.pause)

    def _interrupt(self) -> None:
        if self._main is not None:
            signal.pthread_kill(self._main, _SIGNAL)
            self._bell.wait(_HEARD)
        if self._message is not None and not self._closed:
            for pid in self._looks.pids:
                processes.send(pid, signal.SIGKILL)

    def _written(self, alarm: Alarm) -> str:
        head = [f"The job hangs: nothing in it has moved for {duration(alarm.seconds)}."]
        written = self._directory.write(alarm.diagnosis, head, self._looks)
        lines: List[str] = [*head, "", str(alarm.diagnosis), ""]
        lines.append(f"Written to {written.directory}: {', '.join(written.files) or 'nothing'}")
        return in_lines("\n".join([*lines, *written.problems]))
