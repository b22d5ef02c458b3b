"""Correct programs that are watched for long (tests/watch/long.py)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from long import watch_all


@pytest.mark.slow
def test_no_correct_program_gives_an_alarm(preflight: None, tmp_path: Path) -> None:
    """For so many seconds in all: ``MPI_QUEUES_WATCHED=7200 pytest --all tests/watch/test_long.py``."""
    seconds = float(os.environ.get("MPI_QUEUES_WATCHED", "600"))
    figures = watch_all(seconds, after=20.0, beside=4, seed=os.getpid(), output=tmp_path)
    assert figures.alarms + figures.problems == []
    assert figures.watched >= seconds * 0.9
