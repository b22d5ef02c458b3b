"""The command ``mpi-queues``."""

from __future__ import annotations

import argparse
import sys
from typing import List, Optional

from . import __version__


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs one command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="mpi-queues", description="Why is my MPI job stuck?")
    parser.add_argument("--version", action="version", version=f"mpi-queues {__version__}")
    parser.parse_args(arguments)
    parser.print_help()
    return 2


if __name__ == "__main__":
    sys.exit(main())
