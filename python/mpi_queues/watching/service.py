"""A watch from its begin to its end: it waits, looks, and writes, runs and ends what it was asked to."""

from __future__ import annotations

import contextlib
import sys
import time
from dataclasses import dataclass, replace
from typing import List, Optional

from .._native import Diagnosis
from ..errors import UserError
from ..system import processes
from ..system.paths import shown
from . import command, ending
from .bell import Bell
from .files import Directory, Written, clock, duration
from .looks import Looks, Nothing
from .watcher import Alarm, Watcher, looked

#: Seconds in which what is known is written where somebody asks for it: batch systems kill 30 seconds later.
_ASKED_TIME = 20.0


#: Seconds between two times when it is seen to a job of which all is known.
_NOTHING_TO_DO = 600.0


@dataclass(frozen=True)
class Orders:
    """What a watch is to do."""

    #: Seconds.
    after: float
    directory: str
    #: The words of a command that is run then; empty for none.
    then: List[str]
    #: Whether the job is ended then.
    end: bool
    #: Whether ranks outside MPI that sleep do not move.
    idle: bool


class Service:
    """One watch of one job."""

    def __init__(self, orders: Orders) -> None:
        """Makes the directory.

        Raises:
            UserError: where nothing can be written there.
        """
        self._orders = orders
        self._directory = Directory(orders.directory)
        self._name = ""
        self._launcher: Optional[int] = None
        self._started: Optional[int] = None
        #: Whether ranks were seen.
        self._seen = False
        #: Whether the alarm was given.
        self.has_alarmed = False
        #: Since when nothing can be read, and whether that was told.
        self._unread_since: Optional[float] = None
        self._told = False

    def begin(self, name: str, looks: Looks, launcher: Optional[int]) -> None:
        """``name`` is what the job is called, as it was named; ``launcher`` its launcher on this machine."""
        self._name = name
        self._looks = looks
        self._launcher = launcher
        self._started = None if launcher is None else processes.start_time(launcher)
        self._watcher = Watcher(looks, self._orders.after, launcher, idle=self._orders.idle)
        self.bell = Bell(launcher)

    @property
    def has_ended(self) -> bool:
        """Whether the launcher has ended."""
        return self.bell.has_ended

    def wait(self) -> None:
        """Until it is time for the next look, or something happens."""
        self.bell.wait(_NOTHING_TO_DO if self.has_alarmed else self._watcher.pause)

    def look(self) -> bool:
        """Looks once; whether there is more to be looked at, or will be."""
        try:
            alarm = self._watcher.step()
        except Nothing:
            # A launcher may start further ranks; a batch system's job without ranks has ended.
            return self._launcher is not None or not self._seen
        except UserError as error:
            self._tell_unread(str(error.args[0]))
            return True
        self._seen, self._unread_since = True, None
        if alarm is not None and not self.has_ended:
            self._alarm(alarm)
        return True

    def _tell_unread(self, why: str) -> None:
        """Once, where it is so for as long as an alarm takes: ranks that begin cannot be read for a moment."""
        now = time.monotonic()
        if self._unread_since is None:
            self._unread_since, self._told = now, False
        elif now - self._unread_since >= self._orders.after and not self._told:
            self._told = True
            _say(f"{self._name}: nothing could be read for {duration(self._orders.after)}; the watch goes on: {why}")

    def _alarm(self, alarm: Alarm) -> None:
        self.has_alarmed = True
        what = "some of its ranks can never go on, and have not moved" if alarm.held else "nothing in it has moved"
        sentence = f"{self._name}: {what} for {duration(alarm.seconds)}, since {clock(alarm.since)}"
        _say(f"{sentence}. {alarm.diagnosis.headline}")
        written = self._directory.write(alarm.diagnosis, [f"{sentence}."], self._looks)
        _tell_written(written)
        if self._orders.then:
            for problem in command.run(self._orders.then, self._name, alarm, self._directory.path):
                _say(problem)

    def write_now(self, signal: str) -> None:
        """Writes what is known at this moment, because a signal asks for it."""
        limit = min(_ASKED_TIME, self._looks.request.timeout)
        looks = Looks(self._looks.finder, replace(self._looks.request, timeout=limit))
        sentence = f"{self._name} at {clock(time.time())}, because of {signal}"
        diagnosis: Optional[Diagnosis] = None
        head = [f"{sentence}."]
        try:
            diagnosis = looked(looks)
        except (Nothing, UserError) as error:
            head.append(f"Nothing could be read: {error.args[0]}")
        _say(f"{sentence}: {diagnosis.headline if diagnosis is not None else head[-1]}")
        _tell_written(self._directory.write(diagnosis, head, looks))

    def end_job(self) -> None:
        """Ends the job."""
        _say(f"{self._name}: ending it now")
        launcher = self._launcher
        if launcher is not None and processes.start_time(launcher) != self._started:
            return
        for problem in ending.end(launcher, self._name, self._looks.pids):
            _say(problem)


def _tell_written(written: Written) -> None:
    if written.files:
        _say(f"written to {shown(written.directory)}: {', '.join(shown(name) for name in written.files)}")
    for problem in written.problems:
        _say(problem)


def _say(text: str) -> None:
    """One line on standard error; it may be closed."""
    with contextlib.suppress(OSError):
        print(f"mpi-queues: {text}", file=sys.stderr, flush=True)
