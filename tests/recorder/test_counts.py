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


@pytest.mark.parametrize("seed", [1, 2, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 23))])
def test_random_messages(any_mpi: MpiBuild, seed: int) -> None:
    program = recorder.compiled(any_mpi, "counts.c")
    with Job(any_mpi, program, str(seed), "300", ranks=3) as job:
        _assert_counts(job, 3)


@pytest.mark.parametrize("binding", [1, 2, 3])
@pytest.mark.usual("debian-1", "mpich-debian-1")
def test_messages_from_anybody_in_fortran(fortran_mpi: MpiBuild, binding: int) -> None:
    program = recorder.compiled(fortran_mpi, "counts.F90", f"-DBINDING={binding}")
    with Job(fortran_mpi, program, ranks=2) as job:
        for rank in range(2):
            record = job.waiting(rank, "MPI_Recv")
            copy = next(
                one for one in record.live() if record.names_of_communicators.get(one.handle) == "halo of Fortran"
            )
            told = {key: number for key, number in record.messages.items() if key.communicator == copy.handle}
            tags = job.truth[rank]["tags"]
            assert told == {Message(copy.handle, received, rank, tag): 1 for received in (False, True) for tag in tags}
            assert not record.untold[copy.handle] and not any(record.lost.values())
