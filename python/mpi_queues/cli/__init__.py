"""The command line: a file for each command."""

from __future__ import annotations

import sys
from typing import Optional, Sequence


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """``mpi-queues``; what it needs is loaded here, not by those who use one of its files."""
    # Asked by the scripts of shells at each press of a key: what commands need is not loaded.
    if list(sys.argv[1:] if arguments is None else arguments) == ["completion", "--jobs"]:
        from .completion_jobs import write

        return write()
    from .command_line import main as run

    return run(arguments)
