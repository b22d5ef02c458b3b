"""Lists of ranks as people type them."""

from __future__ import annotations

from typing import List, Tuple

import pytest
from mpi_queues.errors import UsageError
from mpi_queues.launchers.model import Job, RankEntry, World
from mpi_queues.launchers.selection import numbers, parse


def job(*sizes: int) -> Job:
    made = Job(1, "mpirun", "here")
    for number, size in enumerate(sizes):
        made.worlds.append(World(number, None, size, sum(sizes[:number])))
        for rank in range(size):
            made.ranks.append(RankEntry(rank, number, 100 * number + rank, "here", "a", "sleeping", True, "made up"))
    return made


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("all", [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1)]),
        ("2", [(0, 2)]),
        ("3,0-1", [(0, 0), (0, 1), (0, 3)]),
        ("1,1,0-1", [(0, 0), (0, 1)]),
        ("1:0-1", [(1, 0), (1, 1)]),
        ("1:all,0", [(0, 0), (1, 0), (1, 1)]),
        (" 0 , 1:1 ", [(0, 0), (1, 1)]),
    ],
)
def test_lists(text: str, expected: List[Tuple[int, int]]) -> None:
    assert [(entry.world, entry.rank) for entry in parse(text, job(4, 2))] == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "'' is not a list of ranks"),
        ("0,", "'' is not a list of ranks"),
        ("x", "'x' is not a list of ranks"),
        ("-1", "'-1' is not a list of ranks"),
        ("٣", "'٣' is not a list of ranks"),
        ("1-0", "0 is less than 1"),
        ("4", "the job has no rank 4; it has 0-3"),
        ("2-7", "the job has no rank 4; it has 0-3"),
        ("0-9999999999", "the job has no rank 4; it has 0-3"),
        ("1:2", "the job has no rank 2 of world 1; it has 0-1"),
        ("2:all", "the job has no world 2"),
        ("\x1b[2J", "'?[2J' is not a list of ranks"),
        ("1" * 5000, "is not a list of ranks"),
    ],
)
def test_what_is_no_list_is_told(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text, job(4, 2))
    assert said in str(caught.value)
    assert "such as: all" in str(caught.value)


def test_a_rank_without_number_is_in_all_only() -> None:
    made = job(1)
    made.ranks.append(RankEntry(None, 0, 7, "here", "a", "sleeping", True, "made up"))
    assert len(parse("all", made)) == 2
    assert len(parse("0", made)) == 1


def test_numbers_for_people() -> None:
    assert numbers([3, 0, 1, 2, 7, 7]) == "0-3,7"
    assert numbers([]) == "none"
    assert numbers(list(range(0, 200, 2))).endswith(",…")
