"""A program for the jobs of clusters."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpi_queues.cli import demo
from support.builds import MpiBuild


@pytest.fixture(scope="session")
def program(debian_mpi: MpiBuild, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of the demo, which is deadlocked."""
    return demo.compile_demo(tmp_path_factory.mktemp("demo"))
