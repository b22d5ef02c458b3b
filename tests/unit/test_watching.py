"""What is watched between two looks ends at once where the user presses Ctrl-C."""

from __future__ import annotations

import os
import signal
import time

import pytest
from mpi_queues import _native


class Pressed(Exception):
    """What the signal's function raises."""


def press(number: int, frame: object) -> None:
    """A function of a signal."""
    raise Pressed


def test_a_signal_ends_the_watch_and_is_told() -> None:
    before = signal.signal(signal.SIGALRM, press)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        begun = time.monotonic()
        with pytest.raises(Pressed):
            _native.moving([os.getpid()], 300.0)
        # It looks ten times, every 30 seconds.
        assert time.monotonic() - begun < 20
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
