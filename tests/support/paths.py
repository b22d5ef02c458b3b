"""Where things are in the project."""

from __future__ import annotations

from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PROGRAMS = PROJECT / "tests" / "programs"
PACKAGE = PROJECT / "python" / "mpi_queues"
CACHE = PROJECT / ".cache"
MPI_QUEUES = PROJECT / ".venv" / "bin" / "mpi-queues"
#: Runs a program whose processes wait by spinning, when nobody else wants the processor.
SPINNING = PROGRAMS / "spinning.sh"
