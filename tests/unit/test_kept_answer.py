"""Answers of debuggers are taken from where they were put, in one file for many."""

from __future__ import annotations

import contextlib
import os
import pathlib
import subprocess
import tempfile
import threading
from typing import IO, Iterator, List

import pytest
from mpi_queues.debuggers.asked import Told
from mpi_queues.debuggers.kept_answer import MAX_HEAD, KeptFile
from mpi_queues.debuggers.together import read_together
from mpi_queues.errors import UserError
from mpi_queues.request import Request
from mpi_queues.targets import PidTarget
from test_conversation import Script


@contextlib.contextmanager
def sleepers(count: int) -> Iterator[List[int]]:
    """Process ids of processes that do nothing."""
    started = [subprocess.Popen(["sleep", "60"]) for _ in range(count)]
    try:
        yield [one.pid for one in started]
    finally:
        for one in started:
            one.kill()
            one.wait()


def file_of(content: bytes) -> IO[bytes]:
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the answers close it
    file.write(content)
    file.flush()
    return file


def test_answers_are_views_of_one_file() -> None:
    file = file_of(b"..head\nab..cde...second\nxyz")
    kept = KeptFile(file)
    first, second = kept.answer([(2, 7), (11, 3)]), kept.answer([(17, 10)])
    assert (first.head, first.size, b"".join(first.pieces())) == (b"head\n", 5, b"abcde")
    assert [first.read(at, 2) for at in range(6)] == [b"ab", b"bc", b"cd", b"de", b"e", b""]
    assert [b"".join(first.pieces(1, end)) for end in (1, 2, 4)] == [b"", b"b", b"bcd"]
    assert (second.head, second.read(0, 9)) == (b"second\n", b"xyz")
    first.close()
    first.close()
    assert not file.closed and second.read(0, 3) == b"xyz"
    second.close()
    assert file.closed


def test_a_large_answer_comes_in_pieces() -> None:
    with KeptFile(file_of(b"\n" + bytes(5 << 20))).answer() as answer:
        assert [len(piece) for piece in answer.pieces()] == [1 << 20] * 5


def test_the_first_line_is_bounded() -> None:
    with KeptFile(file_of(b"x" * (MAX_HEAD + 5))).answer() as answer:
        assert (len(answer.head), answer.size) == (MAX_HEAD, 5)


def test_a_file_that_was_cut_short_is_told() -> None:
    file = file_of(b"head\nabc")
    kept = KeptFile(file)
    answer = kept.answer()
    os.ftruncate(file.fileno(), 6)
    with pytest.raises(UserError, match="not in its temporary file"):
        b"".join(answer.pieces())
    with pytest.raises(UserError, match="not in its temporary file"):
        kept.answer([(6, 1)])
    assert not file.closed and answer.read(0, 1) == b"a"
    answer.close()
    assert file.closed
    with file_of(b"") as empty, pytest.raises(UserError, match="temporary file"):
        KeptFile(empty).answer([(0, 1)])


def open_temporary(directory: pathlib.Path) -> List[str]:
    """Files in a directory, those without a name too, that this process has open."""
    links = [pathlib.Path("/proc/self/fd", name) for name in os.listdir("/proc/self/fd")]
    return [os.readlink(link) for link in links if link.is_symlink() and os.readlink(link).startswith(f"{directory}/")]


def test_what_was_read_stays_where_another_process_fails(tmp_path: pathlib.Path) -> None:
    place = tmp_path / "spool"
    place.mkdir()
    with sleepers(4) as (first, second, third, fourth):
        said = (
            *(f'{{"stopped": {pid}, "at": 1.5}}\n' for pid in (first, second, third, fourth)),
            f'{{"begin": {first}}}\n{{"piece": 6}}\nhead\n1{{"piece": 3}}\nabc{{"done": {first}, "at": 2.0}}\n',
            f'{{"begin": {second}}}\n{{"piece": 2}}\nab{{"failed": {second}, "error": "no"}}\n',
            f'{{"begin": {third}}}\n{{"piece": 6}}\nhead\n3{{"done": {third}, "at": 2.5}}\n',
            f'{{"begin": {fourth}}}\n{{"piece": 600}}\nhead',
        )
        (tmp_path / "said").write_text("".join(said))
        script = Script(f"cat {tmp_path}/said >&$MPI_QUEUES_RESULT_FD; kill -KILL $$")
        targets = [PidTarget(pid) for pid in (first, second, third, fourth)]
        request = Request(timeout=30.0, spool=str(place))
        answers = read_together(script, targets, request, threading.Event(), Told(4))
    found = dict(zip((first, second, third, fourth), answers))
    assert len(open_temporary(place)) == 1 and os.listdir(place) == []
    for pid, content in ((first, b"1abc"), (third, b"3")):
        with found[pid].taken() as body:
            assert b"".join(body.pieces()) == content
    assert [found[pid].error is not None for pid in (first, second, third, fourth)] == [False, True, False, True]
    assert open_temporary(place) == []


def test_no_temporary_file_is_left_where_nothing_was_read(tmp_path: pathlib.Path) -> None:
    with sleepers(1) as (pid,):
        request = Request(timeout=30.0, spool=str(tmp_path))
        answers = read_together(Script("exit 3"), [PidTarget(pid)], request, threading.Event(), Told(1))
    assert (answers, open_temporary(tmp_path), os.listdir(tmp_path)) == ([], [], [])
