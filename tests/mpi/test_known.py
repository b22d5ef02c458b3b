"""What the table says can be known of each MPI (support/known.json, docs/mpis.md) is what runs show."""

from __future__ import annotations

from typing import Any, Dict

import pytest
from support import known
from support.builds import MpiBuild
from support.measuring import measure

#: What no memory of the library's holds: the debugger at hand tells it, and a newer one may tell more of it.
FROM_STACKS = "processes.call"


def _assert_known(build: MpiBuild) -> None:
    measured, table = measure(build), known.read_table()[build.id]
    assert _without_stacks(measured) == _without_stacks(table)
    assert measured["facts"][FROM_STACKS] in (table["facts"][FROM_STACKS], known.EXACT)


def _without_stacks(entry: Dict[str, Any]) -> Dict[str, Any]:
    facts = {name: level for name, level in entry["facts"].items() if name != FROM_STACKS}
    return {**{name: value for name, value in entry.items() if name != "alone"}, "facts": facts}


@pytest.mark.slow
def test_open_mpi_is_known_as_the_table_says(mpi_build: MpiBuild) -> None:
    _assert_known(mpi_build)


@pytest.mark.slow
def test_mpich_is_known_as_the_table_says(mpich_build: MpiBuild) -> None:
    _assert_known(mpich_build)


@pytest.mark.slow
def test_transports_are_known_as_the_table_says(transport_build: MpiBuild) -> None:
    _assert_known(transport_build)
