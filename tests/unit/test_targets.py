"""The targets of a command line, in the order in which they are given."""

from __future__ import annotations

import argparse
from typing import List

from mpi_queues import targets
from mpi_queues.targets import CoreTarget, PidTarget, RecordingTarget


def parsed(*arguments: str) -> List[targets.Target]:
    parser = argparse.ArgumentParser()
    targets.add_options(parser)
    return targets.requested(parser.parse_args(arguments))


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
