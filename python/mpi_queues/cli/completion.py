"""``mpi-queues completion``: what a shell needs to complete commands, options and their values."""

from __future__ import annotations

import argparse
import pathlib
import sys
from typing import Any

_DATA = pathlib.Path(__file__).resolve().parents[1] / "data" / "completion"

#: Each has a file there, made by ``make completion``.
SHELLS = ("bash", "zsh", "fish")


def add_command(commands: Any) -> None:
    """Adds ``completion`` to the command line."""
    parser = commands.add_parser(
        "completion",
        help="what bash, zsh and fish need to complete commands and options",
        description="Prints a script, with which the shell completes commands, options and their values.",
        epilog="examples:\n"
        '  eval "$(mpi-queues completion bash)"                              # in ~/.bashrc\n'
        "  mpi-queues completion zsh > ~/.zfunc/_mpi-queues                  # a directory of $fpath\n"
        "  mpi-queues completion fish > ~/.config/fish/completions/mpi-queues.fish",
    )
    parser.add_argument("shell", choices=SHELLS, metavar="|".join(SHELLS))
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """``mpi-queues completion``."""
    sys.stdout.write((_DATA / f"mpi-queues.{options.shell}").read_text(encoding="utf-8"))
    return 0
