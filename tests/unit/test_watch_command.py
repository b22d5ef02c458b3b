"""What is run at an alarm (``--then``): what it is told, and what is said where it goes wrong."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import List

import mpi_queues
import pytest
from mpi_queues._native import Diagnosis
from mpi_queues.cli import demo
from mpi_queues.watching import command
from mpi_queues.watching.watcher import Alarm


@pytest.fixture(scope="module")
def diagnosis() -> Diagnosis:
    return mpi_queues.load(demo.RECORDING).diagnose()


def run(words: List[str], diagnosis: Diagnosis, place: Path, name: str = "mpirun (pid 4242)") -> List[str]:
    return list(command.run(words, name, Alarm(diagnosis, 1764432000.25, 600.0, False), str(place)))


def test_what_it_is_told(diagnosis: Diagnosis, tmp_path: Path) -> None:
    place = tmp_path / os.fsdecode(b"not \xff text")
    place.mkdir()
    script = 'cat >"$MPI_QUEUES_DIR/json"; env -0 >"$MPI_QUEUES_DIR/env"'
    assert run(["sh", "-c", script], diagnosis, place, "a\nname; touch x\udcff") == []
    assert json.loads((place / "json").read_text()) == json.loads(diagnosis.to_json())
    told = dict(entry.partition(b"=")[::2] for entry in (place / "env").read_bytes().split(b"\0"))
    # A name that a stranger chose is a value without control characters.
    assert told[b"MPI_QUEUES_JOB_NAME"] == b"a\\x0aname; touch x\\xff"
    assert told[b"MPI_QUEUES_HEADLINE"] == diagnosis.headline.encode()
    assert (told[b"MPI_QUEUES_STATE"], told[b"MPI_QUEUES_SINCE"]) == (b"deadlock", b"1764432000")
    assert told[b"MPI_QUEUES_DIR"] == os.fsencode(place) and told[b"PATH"] == os.environb[b"PATH"]


@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
def test_what_goes_wrong_is_said(diagnosis: Diagnosis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(["false"], diagnosis, tmp_path) == ["false ended with status 1"]
    assert run(["./nosuch"], diagnosis, tmp_path) == ["./nosuch: No such file or directory"]
    # It may leave what it is given.
    assert run(["true"], diagnosis, tmp_path) == []
    monkeypatch.setattr(command, "TIME", 0.2)
    begun = time.monotonic()
    said = run(["sleep", "3"], diagnosis, tmp_path)
    assert (
        said == ["sleep has not ended after 0 seconds; the watch does not wait for it"] and time.monotonic() - begun < 3
    )


def test_no_room_for_the_json(diagnosis: Diagnosis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is run all the same."""
    monkeypatch.setattr(command.tempfile, "TemporaryFile", open_full)
    said = run(["sh", "-c", 'cat >"$MPI_QUEUES_DIR/json"'], diagnosis, tmp_path)
    assert said == ["sh cannot be given the JSON: No space left on device"]
    assert (tmp_path / "json").read_bytes() == b""


def open_full() -> object:
    return open("/dev/full", "w+b", buffering=0)
