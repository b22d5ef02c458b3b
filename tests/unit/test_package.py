"""The package as it is installed."""

from __future__ import annotations

import importlib

import mpi_queues


def test_everything_in_all_exists() -> None:
    assert [name for name in mpi_queues.__all__ if not hasattr(mpi_queues, name)] == []


def test_the_version_is_that_of_the_native_module() -> None:
    native = importlib.import_module("mpi_queues._native")
    assert mpi_queues.__version__ == native.__version__
