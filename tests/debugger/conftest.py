"""A small job for the tests of the debugger commands."""

from __future__ import annotations

from typing import Iterator

import pytest
from support.builds import MpiBuild
from support.jobs import Job
from support.variables import Program


@pytest.fixture(scope="module")
def comms_job(debian_mpi: MpiBuild) -> Iterator[Job]:
    """Two ranks with communicators of every kind; all hang in pause()."""
    with Job(debian_mpi, "truth_comms", ranks=2) as job:
        yield job


@pytest.fixture(scope="module")
def many_job(debian_mpi: MpiBuild) -> Iterator[Job]:
    """Rank 0 has 5,000 pending receives."""
    with Job(debian_mpi, "many", "5000", "2", "10", ranks=2) as job:
        yield job


@pytest.fixture(scope="module")
def blocked_job(debian_mpi: MpiBuild) -> Iterator[Job]:
    """Ranks 0 and 1 are blocked in MPI_Barrier, rank 2 is missing."""
    with Job(debian_mpi, "truth_collective", "barrier", ranks=3) as job:
        yield job


@pytest.fixture(scope="module")
def c_program(mpi_build: MpiBuild) -> Iterator[Program]:
    with Program(mpi_build, "printers.c") as job:
        yield job


@pytest.fixture(scope="module")
def debian_program(debian_mpi: MpiBuild) -> Iterator[Program]:
    """For what does not depend on the MPI."""
    with Program(debian_mpi, "printers.c") as job:
        yield job


@pytest.fixture(scope="module")
def cxx_program(debian_mpi: MpiBuild) -> Iterator[Program]:
    with Program(debian_mpi, "printers.cc") as job:
        yield job


@pytest.fixture(scope="module")
def fortran_program(debian_mpi: MpiBuild) -> Iterator[Program]:
    with Program(debian_mpi, "printers.f90") as job:
        yield job
