"""How many messages the flight recorder has counted, against what programs say they sent and received."""

from __future__ import annotations

import pytest
from support import recorder
from support.builds import MpiBuild
from support.recorder import Job, Message


def _assert_counts(job: Job, ranks: int, function: str = "MPI_Recv") -> None:
    for rank in range(ranks):
        record = job.waiting(rank, function)
        assert not any(record.lost.values()) and not any(record.untold.values())
        expected = {
            Message(comm, bool(received), peer, tag): number
            for comm, received, peer, tag, number in job.truth[rank]["messages"]
        }
        assert record.messages == expected


@pytest.mark.parametrize("seed", [1, 2, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(3, 23))])
def test_random_messages(any_mpi: MpiBuild, seed: int) -> None:
    program = recorder.compiled(any_mpi, "counts.c")
    with Job(any_mpi, program, str(seed), "300", ranks=3) as job:
        _assert_counts(job, 3)
