"""What is in a recording of a real job, and what is not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Callable, Dict

import mpi_queues
import pytest
from support import recording_file
from support.builds import MpiBuild
from support.cli import mpi_queues as command_line
from support.cli import pid_options
from support.jobs import Job

StartJob = Callable[..., Job]

WORD = "pAyLoAd0123456xy"
#: The shortest piece of it that cannot be there by chance.
PIECE = 8


def _record(job: Job, file: Path, *options: str) -> None:
    result = command_line("record", *pid_options(job.pids), "-o", str(file), *options)
    assert result.status == 0, str(result)


def _pieces(file: Path) -> int:
    """How often a piece of the payload stands in the memory that was recorded."""
    twice = (WORD * 2).encode()
    pattern = re.compile(b"|".join(re.escape(twice[at : at + PIECE]) for at in range(len(WORD))))
    return sum(len(pattern.findall(raw)) for kind, raw in recording_file.frames(file) if kind == "MEMO")


@pytest.mark.slow
def test_payloads_are_recorded_only_when_they_are_asked_for(
    mpi_build: MpiBuild, start_job: StartJob, tmp_path: Path
) -> None:
    # Backwards: hints are recorded, and in MPI_INFO_ENV are the arguments.
    job = start_job(mpi_build, "payload", WORD[::-1], ranks=2)
    plain, full = tmp_path / "plain.mpirec", tmp_path / "full.mpirec"
    _record(job, plain)
    _record(job, full, "--full")
    assert _pieces(plain) == 0
    assert _pieces(full) > 100
    one, other = mpi_queues.load(plain), mpi_queues.load(full)
    assert [process.communicators for process in one.processes] == [
        process.communicators for process in other.processes
    ]
    # The messages are there all the same.
    world = one.rank(0).communicator("MPI_COMM_WORLD")
    assert {8, 3000000} <= {message.actual_length for message in world.unexpected_messages}
    job.assert_running()


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_whole_processes_of_a_damaged_recording_are_read(
    debian_mpi: MpiBuild, start_job: StartJob, tmp_path: Path, damage: str
) -> None:
    job = start_job(debian_mpi, "truth_modes", ranks=3)
    whole, damaged = tmp_path / "whole.mpirec", tmp_path / "damaged.mpirec"
    _record(job, whole)
    data = bytearray(whole.read_bytes())
    if damage == "cut":
        del data[len(data) - 1000 :]
    else:
        data[len(data) // 2] ^= 0x40
    damaged.write_bytes(data)
    result = command_line("show", "--recording", str(damaged), "--format", "json")
    assert result.status == 1, str(result)
    assert "damaged.mpirec" in result.err
    shown: Dict[int, object] = {process["rank"]: process for process in json.loads(result.out)["processes"]}
    intact = json.loads(command_line("show", "--recording", str(whole), "--format", "json").out)["processes"]
    lost = {2} if damage == "cut" else {1}
    assert shown == {process["rank"]: process for process in intact if process["rank"] not in lost}
    info = command_line("recording", "info", str(damaged))
    assert info.status == 1, str(info)
    assert "cannot be used" in info.out + info.err
