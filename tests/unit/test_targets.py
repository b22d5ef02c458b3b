"""The targets of a command line, in the order in which they are given."""

from __future__ import annotations

import argparse
from typing import List, Optional

import pytest
from mpi_queues.cli import options
from mpi_queues.launchers import job as acquisition
from mpi_queues.launchers.model import Job, RankEntry, World
from mpi_queues.targets.core import CoreTarget
from mpi_queues.targets.process import PidTarget
from mpi_queues.targets.recording import RecordingTarget
from mpi_queues.targets.target import Target


def parsed(*arguments: str) -> List[Target]:
    parser = argparse.ArgumentParser()
    options.add_targets(parser)
    return options.requested(parser.parse_args(arguments))


def test_any_mix() -> None:
    given = [
        "--core",
        "c1",
        "--exe",
        "a",
        "--pid",
        "7",
        "--core",
        "c2",
        "--recording",
        "r",
        "--core",
        "c3",
        "--exe",
        "b",
    ]
    assert parsed(*given) == [
        CoreTarget("c1", "a"),
        PidTarget(7),
        CoreTarget("c2"),
        RecordingTarget("r"),
        CoreTarget("c3", "b"),
    ]


def test_each_once() -> None:
    assert parsed("--pid", "7", "--core", "c", "--pid", "7", "--core", "c") == [PidTarget(7), CoreTarget("c")]
    # The same core with another program is another target.
    assert len(parsed("--core", "c", "--core", "c", "--exe", "a")) == 2


def test_two_command_lines_share_nothing() -> None:
    assert parsed("--pid", "7") == [PidTarget(7)]
    assert parsed("--pid", "8") == [PidTarget(8)]


def _job(pid: int, *sizes: Optional[int]) -> Job:
    """One rank of each world, the pid of which ends with its number; the first has spawned all others."""
    job = Job(pid, "mpirun", "here")
    for number, size in enumerate(sizes):
        first = 0 if number == 0 else None
        job.worlds.append(World(number, None, size, first, 0 if number else None))
        job.ranks.append(RankEntry(0, number, pid + number, "here", None, "running", True, "a test"))
    return job


def _places(given: List[Target]) -> List[object]:
    places = [(one.pid, one.place) for one in given if isinstance(one, PidTarget) and one.place]
    return [
        (pid, place.entry.world, place.universe_rank, place.world and (place.world.first, place.world.parent))
        for pid, place in places
    ]


def test_worlds_of_several_jobs_are_numbered_through(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = {"10": _job(10, 2, 3), "mpirun": _job(10, 2, 3), "20": _job(20, None, 1), "30": _job(30, 4)}
    monkeypatch.setattr(acquisition, "find", jobs.__getitem__)
    first = [(10, 0, 0, (0, None)), (11, 1, 2, (2, 0))]
    # Behind a world whose size is not known no place is.
    second = [(20, 2, 5, (5, None)), (21, 3, None, (None, 2))]
    third = (30, 4, None, (None, None))
    assert _places(parsed("--job", "10", "--job", "20", "--job", "30")) == [*first, *second, third]
    # One that is named twice is read once, whatever it is called.
    again = parsed("--job", "10", "--job", "mpirun", "--job", "10", "--job", "30")
    assert _places(again) == [*first, (30, 2, 5, (5, None))]
    assert _places(parsed("--job", "30", "--job", "10"))[0] == (30, 0, 0, (0, None))
    # A job of one world has nothing of worlds.
    assert _places(parsed("--job", "30")) == [(30, 0, None, None)]
