"""Small pieces of text."""

from __future__ import annotations

import pytest
from mpi_queues.report import words


@pytest.mark.parametrize(
    ("count", "text"),
    [(None, "?"), (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (8_000_000, "7.6 MiB"), (1 << 40, "1.0 TiB")],
)
def test_sizes(count: int | None, text: str) -> None:
    assert words.size(count) == text


@pytest.mark.parametrize(
    ("group", "text"),
    [
        (None, "not known"),
        ([], "none"),
        ([0], "0"),
        ([0, 1], "0 and 1"),
        ([0, 1, 2, 3], "0-3"),
        ([3, 2, 1], "3, 2 and 1"),
        ([0, 1, 2, 8, None, None], "0-2, 8 and ? (x2)"),
        (list(range(0, 100, 2)), ", ".join(str(rank) for rank in range(0, 24, 2)) + ", …"),
    ],
)
def test_ranks(group: list[int | None] | None, text: str) -> None:
    assert words.ranks(group) == text


def test_a_large_group_is_quick_and_short() -> None:
    assert words.ranks(list(range(1_000_000))) == "0-999999"


def test_shortened_text_fits_and_says_so() -> None:
    assert words.shorten("abcdef", 4) == "abc…"
    assert words.shorten("/a/b/c", 4, keep_end=True) == "…b/c"
    assert words.columns(words.shorten("日本語日本語", 5)) <= 5


def test_control_characters_never_reach_the_terminal() -> None:
    assert words.clean("a\x1b[31mb\n") == "a\\x1b[31mb\\x0a"


def test_lines_are_wrapped_at_the_width() -> None:
    text = words.wrapped("word " * 60, "  - ", "    ")
    assert max(map(len, text.splitlines())) <= words.WIDTH
    assert words.wrapped("x" * 250, "").count("\n") == 4


def test_paths_are_whole() -> None:
    path = "/home/me/" + "deep/" * 30 + "solver.c"
    for place in (path, f"{path}:42", f"({path}:42)"):
        told = words.wrapped(f"MPI_Recv at {place} (rank 0)", "  ", "      ")
        assert told == f"  MPI_Recv at\n      {place}\n      (rank 0)\n"
    # A name that somebody gave is no path.
    assert max(map(len, words.wrapped('"' + "x/" * 200 + ':1"', "").splitlines())) <= words.WIDTH
