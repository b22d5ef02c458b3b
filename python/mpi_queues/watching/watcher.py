"""Looks at a job until nothing of it has moved for so long.

A rank that moves shows that the job does: so while it does, one rank is looked at now and then, one that moved last.
Where ranks run with the flight recorder, its numbers are asked first, for which nobody is stopped. Only where that one
has not moved, all are looked at. Where nothing has moved for the time that was named, several looks shortly after one
another, at uneven times, confirm it: messages that go to and fro may leave two looks alike by chance.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, replace
from typing import List, Mapping, Optional

from .. import _native
from .._native import Diagnosis
from ..errors import UserError
from ..system import processes
from . import movement
from .looks import Look, Looks, Nothing, Steps

#: How often it is looked in the time after which the alarm is given, where nothing moves and where something does; and
#: the seconds between two looks at least.
_LOOKS, _GLANCES, _LEAST = 10, 5, 0.2

#: All ranks are compared once in so many of these times, also where the one that is looked at moves.
_ALL_EVERY = 2.0

#: So much of one processor is used, at most, while the job moves; where that means longer pauses, not longer than this
#: part of the time after which the alarm is given.
_BUDGET, _LONGEST = 0.001, 0.5

#: Looks that confirm that nothing moves, and how long messages are watched before each, in seconds.
_CONFIRMING, _WINDOW = 6, (0.15, 0.6)


@dataclass(frozen=True)
class Alarm:
    """Nothing has moved for so long."""

    diagnosis: Diagnosis
    #: When that began (seconds since 1970), and for how many seconds it is so.
    since: float
    seconds: float
    #: Whether some ranks hold each other while others move.
    held: bool


class Watcher:
    """One job, looked at step by step."""

    def __init__(self, looks: Looks, after: float, launcher: Optional[int] = None, *, idle: bool = False) -> None:
        """``idle``: ranks outside MPI that sleep do not move."""
        self.looks = looks
        self._after = after
        self._launcher = launcher
        self._idle = idle
        #: A look at all since which nothing has moved.
        self._anchor: Optional[Look] = None
        #: The last look at one of those that moved, and who that is.
        self._glance: Optional[Look] = None
        #: How far ranks were when they were last seen to move, by the flight recorder.
        self._steps: Mapping[int, Steps] = {}
        self._sample: List[int] = []
        #: The last look at all that was no confirmation.
        self._whole: Optional[Look] = None
        self._cost = 0.0

    @property
    def pause(self) -> float:
        """For how many seconds nothing is to be done."""
        if self._anchor is not None:
            return max(_LEAST, self._after / _LOOKS)
        usual = max(_LEAST, self._after / _GLANCES)
        return max(usual, min(self._after * _LONGEST, self._cost / _BUDGET))

    def step(self) -> Optional[Alarm]:
        """Looks once more.

        Raises:
            Nothing: where there is no rank, not yet or not any more.
            UserError: where the ranks cannot be found, or none can be read.
        """
        used = time.process_time()
        try:
            return self._stepped()
        except (Nothing, UserError):
            self._anchor = self._glance = self._whole = None
            raise
        finally:
            self._cost = time.process_time() - used

    def _stepped(self) -> Optional[Alarm]:
        if self._anchor is not None:
            return self._compared(self._anchor, self.looks.all())
        if self._glance is not None and self._whole is not None:
            if time.monotonic() >= self._whole.ended + _ALL_EVERY * self._after:
                # Others than this one may be stuck.
                return None if self._all_went_on(self._whole) else self._compared(self._whole, self.looks.all())
            if self._went_on():
                return None
            look = self.looks.some(self._sample)
            if not self._between(self._glance, look).is_still:
                self._glance = look
                return None
        self._begin(self.looks.all())
        return None

    def _went_on(self) -> bool:
        """Whether the flight recorder has seen a rank go on."""
        if not self._steps:
            return False
        now = self.looks.steps()
        moved = any(now.get(pid, steps) != steps for pid, steps in self._steps.items())
        self._steps = now
        return moved

    def _all_went_on(self, whole: Look) -> bool:
        """Whether it has seen all of them go on since all were looked at: then nobody is stuck. Who has come since must
        be looked at."""
        if not whole.steps:
            return False
        self.looks.find()
        now = self.looks.steps()
        pids = set(self.looks.pids)
        is_all = not self.looks.on_nodes and pids == set(now) == set(whole.steps) == {pid for _, pid in whole.places}
        if not is_all or any(now[pid] == steps for pid, steps in whole.steps.items()):
            return False
        self._whole = replace(whole, ended=time.monotonic(), steps=now)
        self._steps = now
        return True

    def _between(self, earlier: Look, later: Look) -> movement.Seen:
        return movement.between(earlier, later, idle=self._idle)

    def _begin(self, look: Look) -> None:
        self._anchor = self._whole = look
        self._glance = None

    def _compared(self, anchor: Look, look: Look) -> Optional[Alarm]:
        seen = self._between(anchor, look)
        if self._is_interrupted(look) or not _goes_on(seen):
            self._moved(look, seen)
            return None
        self._anchor, self._glance = anchor, None
        if look.ended - anchor.ended < self._after:
            return None
        return self._confirmed(anchor, look)

    def _moved(self, look: Look, seen: movement.Seen) -> None:
        self._begin(look)
        movers = [pid for _, pid in sorted(seen.movers) if pid in look.clocks]
        if movers:
            self._sample = movers[:1]
            self._anchor, self._glance, self._steps = None, look, look.steps

    def _confirmed(self, anchor: Look, last: Look) -> Optional[Alarm]:
        for _ in range(_CONFIRMING):
            look = self.looks.all(random.uniform(*_WINDOW))
            seen = self._between(last, look)
            if self._is_interrupted(look) or not _goes_on(seen):
                self._moved(look, seen)
                return None
            last = look
        if self._starved(anchor):
            return None
        whole = self._between(anchor, last)
        seconds = last.ended - anchor.ended
        return Alarm(whole.diagnosis, time.time() - seconds, seconds, held=not seen.is_still)

    def _is_interrupted(self, look: Look) -> bool:
        """Whether somebody has stopped the job, or its ranks: then it does not move, and that is meant."""
        if self._launcher is not None and processes.state(self._launcher) in ("T", "t"):
            return True
        states = [process.state for process in look.snapshot.processes]
        return all(state == "stopped" for state in states) or "traced" in states

    def _starved(self, anchor: Look) -> List[int]:
        """Those that want a processor and had none: that they did not move tells nothing."""
        return _native.starved(anchor.used, _native.RAN)


def _goes_on(seen: movement.Seen) -> bool:
    """Whether it goes on that nothing goes on."""
    return seen.is_still or bool(seen.held)


def looked(looks: Looks, seconds: float = 0.5) -> Diagnosis:
    """What is known of a job at once, from two looks.

    Raises:
        Nothing, UserError: as :meth:`Looks.all`.
    """
    first = looks.all()
    return movement.between(first, looks.all(seconds)).diagnosis
