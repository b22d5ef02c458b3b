"""The command line: a file for each command."""

from __future__ import annotations

from typing import Optional, Sequence


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """``mpi-queues``; what it needs is loaded here, not by those who use one of its files."""
    from .command_line import main as run

    return run(arguments)
