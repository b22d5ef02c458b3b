"""Commands of others, which may say anything, for any time."""

from __future__ import annotations

import subprocess

import pytest
from mpi_queues.system import commands


def said(script: str, seconds: float = 60.0, most: int = 1000, whole: bool = False) -> commands.Said:
    return commands.said(["sh", "-c", script], seconds, most, whole=whole)


def test_how_it_ends_and_what_it_says() -> None:
    assert said("echo out; echo errors >&2; exit 3") == (3, b"out\n", b"errors\n")
    assert commands.said(["cat"], 60.0, 1000, b"given") == (0, b"given", b"")


def test_what_is_too_much_is_dropped_or_an_error() -> None:
    status, out, errors = said("head -c 3000000 /dev/zero; echo last >&2")
    assert (status, len(out) + len(errors)) == (0, 1000)
    with pytest.raises(commands.SaysTooMuch):
        said("yes", whole=True)


def test_one_that_does_not_end_is_ended() -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        said("exec sleep 100", seconds=0.2)
    with pytest.raises(subprocess.TimeoutExpired):
        said("exec yes", seconds=0.2)


def test_one_that_closes_its_outputs_is_waited_for() -> None:
    assert said("exec >&- 2>&-; sleep 0.3; exit 4").status == 4


def test_what_it_leaves_running_is_not_waited_for() -> None:
    # Else it would be said to take too long.
    ended = said("sleep 100 & echo $!", seconds=20.0)
    subprocess.run(["kill", ended.out.decode().strip()], check=True)
    assert ended.status == 0


def test_one_that_is_not_there() -> None:
    with pytest.raises(OSError):
        commands.said(["/nowhere/at-all"], 1.0, 10)
