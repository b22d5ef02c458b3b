"""How far ranks under the flight recorder are, as a watch reads it while they run."""

from __future__ import annotations

import time
from typing import List, Tuple

import pytest
from mpi_queues._native import Recorded
from support import diagnosis, processes, recorder
from support.builds import MpiBuild
from support.jobs import READY_TIMEOUT
from support.paths import PROGRAMS
from support.recorder import Job

#: What polls.c calls before it asks for ever, but polls; and the requests that polls complete.
CALLS, COMPLETED = 1 + 8 + 3 + 1, 9


def steps(recorded: Recorded, pid: int) -> List[Tuple[int, int]]:
    return recorded.steps([pid], anew=True)[pid]


@pytest.mark.usual("debian", "mpich-debian")
def test_polls_are_steps_only_where_they_complete_something(any_mpi: MpiBuild) -> None:
    recorded = Recorded()
    with Job(any_mpi, recorder.compiled(any_mpi, "polls.c"), ranks=1) as job:
        pid = job.pids[0]
        deadline = time.monotonic() + READY_TIMEOUT
        while steps(recorded, pid) != [(pid, CALLS + COMPLETED)]:
            assert time.monotonic() < deadline, steps(recorded, pid)
            time.sleep(0.01)
        before = job.record().threads[0].calls
        while job.record().threads[0].calls < before + 1000:
            assert time.monotonic() < deadline
        assert steps(recorded, pid) == [(pid, CALLS + COMPLETED)]
        processes.assert_running(pid)
        names = job.record().names()
        assert set(names[-2:]) == {"MPI_Iprobe", "MPI_Test"}


@pytest.mark.usual("debian", "mpich-debian")
def test_ranks_that_send_and_receive_make_steps(any_mpi: MpiBuild) -> None:
    recorded = Recorded()
    with Job(any_mpi, recorder.compiled(any_mpi, "busy.c"), ranks=2) as job:
        before = recorded.steps(job.pids)
        assert set(before) == set(job.pids)
        deadline = time.monotonic() + READY_TIMEOUT
        while any(steps == before[pid] for pid, steps in recorded.steps(job.pids).items()):
            assert time.monotonic() < deadline
        assert recorded.steps(job.pids).keys() == before.keys()
    # They are gone.
    assert recorded.steps(job.pids) == {}


def test_who_has_no_record_has_no_steps(debian_mpi: MpiBuild) -> None:
    program = diagnosis.load(PROGRAMS / "fine" / "pingpong_small.c", False)
    assert program is not None
    with program.start(debian_mpi) as job:
        assert Recorded().steps([*job.pids, 1, 4_190_001]) == {}
