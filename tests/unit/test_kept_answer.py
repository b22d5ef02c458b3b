"""What is recorded of a process is taken from where it is kept meanwhile."""

from __future__ import annotations

import os
import pathlib
import tempfile

import pytest
from mpi_queues.errors import UserError
from mpi_queues.request import Request
from mpi_queues.targets.answer import RecordedProcess
from mpi_queues.targets.process import PidTarget
from mpi_queues.targets.reading import read_all
from support.processes import asleep


def test_a_large_one_comes_in_pieces() -> None:
    file = tempfile.TemporaryFile()  # noqa: SIM115 - it closes it
    file.write(bytes(5 << 19))
    file.flush()
    recorded = RecordedProcess(file, None)
    assert [len(piece) for piece in recorded.pieces()] == [1 << 20, 1 << 20, 1 << 19]
    recorded.close()
    assert file.closed


def test_one_that_cannot_be_read_any_more_is_told(tmp_path: pathlib.Path) -> None:
    # Only to write.
    with (
        (tmp_path / "kept").open("wb") as file,
        pytest.raises(UserError, match="temporary file with what was read: Bad"),
    ):
        b"".join(RecordedProcess(file, None).pieces())


def test_nothing_is_left_of_what_is_no_mpi_process(tmp_path: pathlib.Path) -> None:
    with asleep() as child:
        for place, said in ((tmp_path, "not an MPI process"), (tmp_path / "nix", "cannot be kept in the directory")):
            request = Request("record", timeout=30.0, spool=str(place))
            (answer,) = read_all([PidTarget(child.pid)], request)
            assert answer.told is None and said in str(answer.error)
    assert os.listdir(tmp_path) == []
