"""A program that writes over the flight recorder's record does what it does without the recorder: that may lose its
record."""

from __future__ import annotations

from typing import List, Tuple

import pytest
from support import recorder
from support.builds import MpiBuild
from support.starters import Place
from support.under_recorder import ended

#: Only keeps what hangs from hanging the tests.
GUARD = 120.0

#: Where pieces begin and how long they are (bytes): what comes first has the rows of threads and communicators.
PIECES = ((0, 65536), (8192, 16384), (-1, 65536), (-1, 4096))


def outcome(build: MpiBuild, program: str, words: List[str], *, recorded: bool) -> Tuple[int, List[str], str]:
    place = Place()
    try:
        command = [str(build.mpirun), "-n", "2", program, *words]
        run = ended(build, place, command, recorded=recorded, guard=GUARD)
        return run.returncode, sorted(run.stdout.splitlines()), run.stderr
    finally:
        place.end()


@pytest.mark.parametrize("piece", PIECES, ids=lambda piece: "-".join(map(str, piece)))
@pytest.mark.usual("mpich-debian--1-65536")
def test_the_record_is_written_over(piece: Tuple[int, int], any_mpi: MpiBuild, request: pytest.FixtureRequest) -> None:
    recorder.library()
    program = str(recorder.compiled(any_mpi, "overwrites.c"))
    seeds = range(1, 101) if request.config.getoption("--all") else range(1, 5)
    without = outcome(any_mpi, program, ["1", "0", "0"], recorded=False)
    assert without[0] == 0 and len(without[1]) == 2, without
    for seed in seeds:
        words = [str(seed), *map(str, piece)]
        found = outcome(any_mpi, program, words, recorded=True)
        assert found[:2] == without[:2], f"overwrites {' '.join(words)}: {found[2]}"
