"""A process under the flight recorder looks to all readers as it does without."""

from __future__ import annotations

import json
import time
from typing import Any, List

import pytest
from support import recorder
from support.builds import MpiBuild
from support.jobs import READY_TIMEOUT
from support.recorder import Job


def _given(call: Any) -> List[Any]:
    """What is told of its arguments, without addresses."""
    return [(one["name"], one.get("expression"), one.get("meaning")) for one in call.get("arguments", [])]


def _seen(job: Job) -> List[Any]:
    """What is told of each rank, once all wait: its call with where it stands, and its queues."""
    deadline = time.monotonic() + READY_TIMEOUT
    while True:
        told: List[Any] = []
        for process in json.loads(job.snapshot().to_json())["processes"]:
            calls = [
                (call["function"], call["file"], call["line"], call["caller"], *map(str, _given(call)))
                for call in process["calls"]
            ]
            queues = [
                (comm["name"], *(len(comm[kind]["operations"]) for kind in ("pending_receives", "pending_sends")))
                for comm in process["communicators"]
            ]
            told.append((process["mpi"]["implementation"], calls, queues))
        if all([call[0] for call in one[1]] == ["MPI_Recv"] for one in told):
            return told
        assert time.monotonic() < deadline, told


@pytest.mark.usual("mpich-debian")
def test_the_same_is_told(any_mpi: MpiBuild) -> None:
    program = recorder.compiled(any_mpi, "few.c")
    with Job(any_mpi, program, ranks=2, recorded=False) as job:
        without = _seen(job)
    with Job(any_mpi, program, ranks=2) as job:
        assert _seen(job) == without
    assert {call[3] for one in without for call in one[1]} == {"main"}
