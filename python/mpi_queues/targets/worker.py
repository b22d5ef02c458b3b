"""The thread that reads. Whoever asks waits in its own thread: as long as is allowed, and no longer."""

from __future__ import annotations

import atexit
import math
import queue
import threading
import time
from dataclasses import dataclass
from typing import Callable, List, Optional, Union

from .. import _native
from ..system import watchdog

#: A core that keeps its limits has told so by then (seconds).
_SLACK = 2.0
#: What was interrupted ends within so many seconds, or stands.
_ENDING = 1.0

#: Something to tell whoever waits, in its thread.
Told = Callable[[], None]


class Late(Exception):
    """It was not done within its time, and what reads cannot be ended: it is left behind."""


@dataclass(frozen=True)
class _Part:
    """Until when a part of the reading may last, or a step of it (``time.monotonic``)."""

    until: float
    is_step: bool


class Asker:
    """By this what reads speaks to whoever waits."""

    def __init__(self) -> None:
        self._events: queue.SimpleQueue[Union[Told, _Part, None]] = queue.SimpleQueue()
        self._errors: List[BaseException] = []

    def part(self, seconds: float) -> None:
        """A part of the reading begins, which may take so long."""
        self._events.put(_Part(time.monotonic() + seconds + _SLACK, is_step=False))

    def step(self, seconds: float) -> None:
        """The next step of a part begins: what takes longer than this stands. No step has a limit of its own before."""
        self._events.put(_Part(time.monotonic() + seconds + _SLACK, is_step=True))

    def tell(self, told: Told) -> None:
        """Has something done by whoever waits, such as telling how far all is."""
        self._events.put(told)

    def run(self, work: Callable[[Asker], None]) -> None:
        """Does the work, in the thread that reads."""
        try:
            work(self)
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            self._errors.append(error)
        finally:
            self._events.put(None)

    def wait(self, limit: Callable[[float], None]) -> None:
        """Waits until the work is done. ``limit`` is told how many seconds a part may take.

        Raises:
            Late: where it takes longer.
        """
        until = step = math.inf
        while True:
            try:
                left = min(until, step) - time.monotonic()
                event = self._events.get(timeout=None if left == math.inf else max(0.0, left))
            except queue.Empty:
                raise Late from None
            if event is None:
                break
            if not isinstance(event, _Part):
                event()
            elif event.is_step:
                step = event.until
            else:
                until, step = event.until, math.inf
                limit(max(0.0, until - time.monotonic()))
        for error in self._errors:
            raise error

    def ends_soon(self) -> bool:
        """Whether the work, which was interrupted, is done soon."""
        until = time.monotonic() + _ENDING
        while True:
            try:
                if self._events.get(timeout=max(0.0, until - time.monotonic())) is None:
                    return True
            except queue.Empty:
                return False


class _Worker(threading.Thread):
    def __init__(self) -> None:
        # What stands must not hold up the end of the command.
        super().__init__(daemon=True, name="reading")
        self._jobs: queue.SimpleQueue[Optional[Callable[[], None]]] = queue.SimpleQueue()

    def run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
            # What it has read is not kept by this thread.
            del job

    def do(self, job: Optional[Callable[[], None]]) -> None:
        """Has it done after what was given before; None ends the thread."""
        self._jobs.put(job)


#: It is kept between two readings: what is known of a process belongs to a thread.
_worker: Optional[_Worker] = None
#: Whether a thread that stands was left behind.
_left_behind = False


def left_behind() -> bool:
    """Whether a thread of this program stands for ever: it must end without waiting for it."""
    return _left_behind


def run(work: Callable[[Asker], None]) -> None:
    """Has the thread that reads do something, and waits for it.

    Raises:
        Late: where a part of it takes longer than it may, and cannot be ended. All processes go on.
        KeyboardInterrupt: after all processes go on.
    """
    global _worker, _left_behind
    if _worker is None or not _worker.is_alive():
        _worker = _Worker()
        _worker.start()
    asker = Asker()
    _worker.do(lambda: asker.run(work))
    with watchdog.over_reading() as limit:
        try:
            asker.wait(limit)
        except (Late, KeyboardInterrupt):
            _native.interrupt()
            _native.release_everything()
            if not asker.ends_soon():
                _worker, _left_behind = None, True
            raise


def _end() -> None:
    """What the thread keeps goes with it, in its own thread."""
    if _worker is not None and _worker.is_alive():
        _worker.do(None)
        _worker.join(_ENDING)


atexit.register(_end)
