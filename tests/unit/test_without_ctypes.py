"""A Python that was compiled without libffi has no ctypes: on clusters there are such ones."""

from __future__ import annotations

import os
import pathlib
from typing import Dict

import pytest
from support.cli import mpi_queues


@pytest.fixture
def environment(tmp_path: pathlib.Path) -> Dict[str, str]:
    (tmp_path / "ctypes.py").write_text("raise ModuleNotFoundError(\"No module named '_ctypes'\")\n")
    return {**os.environ, "PYTHONPATH": str(tmp_path)}


def test_commands_run(environment: Dict[str, str]) -> None:
    result = mpi_queues("--version", environment=environment)
    assert result.status == 0 and result.err == "", str(result)


def test_a_watch_says_what_it_cannot_do(environment: Dict[str, str], tmp_path: pathlib.Path) -> None:
    result = mpi_queues("run", "--watch", "-o", str(tmp_path / "hang"), "--", "true", environment=environment)
    assert result.status == 0, str(result)
    assert "this Python has no ctypes: if this command is killed, the launcher runs on\n" in result.err


@pytest.mark.mpi
@pytest.mark.slow
def test_the_demo_is_told_and_ended(environment: Dict[str, str]) -> None:
    result = mpi_queues("demo", environment=environment)
    assert result.status == 0 and "Deadlock: rank 2 sends tag 21" in result.out, str(result)
