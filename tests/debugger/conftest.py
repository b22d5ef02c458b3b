"""A small job for the tests of the debugger commands."""

from __future__ import annotations

from typing import Any, Callable, Iterator, List

import debuggers
import pytest
from support.builds import MpiBuild, with_cxx
from support.jobs import Job
from support.starters import Starter
from support.variables import Program


@pytest.fixture(scope="session", autouse=True)
def debuggers_end() -> Iterator[None]:
    """Those that are kept for many tests end with them."""
    yield
    debuggers.close_all()


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
def cxx_program(preflight: None) -> Iterator[Program]:
    with Program(with_cxx(), "printers.cc") as job:
        yield job


@pytest.fixture(scope="module")
def fortran_program(debian_mpi: MpiBuild) -> Iterator[Program]:
    with Program(debian_mpi, "printers.f90") as job:
        yield job


@pytest.fixture
def starter(preflight: None) -> Iterator[Callable[..., Starter]]:
    """Makes launchers that speak MPIR variable by variable; they end with the test."""
    made: List[Starter] = []

    def make(*flags: str, **options: Any) -> Starter:
        made.append(Starter(*flags, **options))
        return made[-1]

    yield make
    for one in made:
        one.end()
