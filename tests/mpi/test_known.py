"""What the table says can be known of each MPI (support/known.json, docs/mpis.md) is what runs show."""

from __future__ import annotations

from support import known
from support.builds import MpiBuild
from support.measuring import measure


def test_open_mpi_is_known_as_the_table_says(mpi_build: MpiBuild) -> None:
    assert measure(mpi_build) == known.read_table()[mpi_build.id]


def test_mpich_is_known_as_the_table_says(mpich_build: MpiBuild) -> None:
    assert measure(mpich_build) == known.read_table()[mpich_build.id]
