"""What the kernel holds for connections is a hint: how many bytes are not read, where a live process can be asked."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Callable

import pytest
from support import diagnosis
from support.builds import MpiBuild
from support.cli import mpi_queues, pid_options, show
from support.jobs import Job
from support.paths import PROGRAMS
from support.transports import Transport
from test_cores import attached, in_debugger, shown_in

StartJob = Callable[..., Job]

TCP = Transport("tcp", "ob1", mca=(("btl", "tcp,self"),))
#: Seed, messages, the largest, how many were sent before. All are small enough to be sent whole.
LETTERS = ("1", "5", "3000", "0")
#: What may stand before each message in bytes: headers of the BTL and of ob1, less than this.
HEADERS = 200
#: Only keeps a failing test from taking long.
PATIENCE = 60.0


def _unread(process: Any) -> Any:
    return process["tcp"]["unread_bytes"]


@pytest.mark.slow
def test_what_a_rank_that_computes_has_not_read(debian_mpi: MpiBuild, start_job: StartJob, tmp_path: Path) -> None:
    job = start_job(debian_mpi, "truth_in_transit", *LETTERS, mca=dict(TCP.mca))
    shown = show(job.pids)
    first, second = (shown[pid] for pid in job.pids)
    sent = [one["bytes"] for one in job.truth[0]["unexpected"] if one["status"] == "in_transit"]
    # And what it has of the collective.
    assert sum(sent) <= _unread(first) <= sum(sent) + HEADERS * (len(sent) + 2)
    assert first["tcp"]["open"] > 0 and first["tcp"]["reason"] is None
    assert _unread(second) == 0

    # No message is made of it.
    operations = [one for comm in first["communicators"] for one in comm["unexpected_messages"]["operations"]]
    assert all(one["status"] != "in_transit" for one in operations)
    text = " ".join(mpi_queues("show", *pid_options(job.pids)).out.split())
    assert text.count(f"perhaps messages wait in the kernel: {_unread(first)} bytes") == 1

    said = in_debugger("gdb", [attached("gdb", job.pids[0])], "mpi queues -format json")
    assert _unread(shown_in(said)["processes"][0]) == _unread(first)
    recording = tmp_path / "job.mpirec"
    result = mpi_queues("record", *pid_options(job.pids), "-o", str(recording))
    assert result.status == 0, str(result)
    recorded = json.loads(mpi_queues("show", "--recording", str(recording), "--format", "json").out)["processes"]
    assert [_unread(one) for one in recorded if one["rank"] == 0] == [_unread(first)]
    job.assert_running()


def test_the_diagnosis_says_perhaps(debian_mpi: MpiBuild, preflight: None) -> None:
    program = diagnosis.load(PROGRAMS / "fine" / "letters_at_the_door.c", False)
    assert program is not None
    deadline = time.monotonic() + PATIENCE
    with program.start(replace(debian_mpi, id=f"{debian_mpi.id}+tcp", transport=TCP)) as job:
        while True:
            said = json.loads(mpi_queues("diagnose", "--job", str(job.launcher_pid), "--format", "json").out)
            (slow,) = [one for one in said["diagnosis"] if one["kind"] == "slow rank"] or [{"evidence": []}]
            if any(one.startswith("Perhaps messages wait in the kernel: ") for one in slow["evidence"]):
                assert "messages wait for it" not in slow["summary"]
                return
            assert time.monotonic() < deadline, json.dumps(said["diagnosis"], indent=1)
