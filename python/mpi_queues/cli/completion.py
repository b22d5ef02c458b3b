"""``mpi-queues completion``: what a shell needs to complete commands, options and their values."""

from __future__ import annotations

import argparse
import sys
from typing import Any, Callable

from .completion_shells import SHELLS
from .completion_tables import tables


def add_command(commands: Any, parser_of_all: Callable[[], argparse.ArgumentParser]) -> None:
    """Adds ``completion`` to the command line, whose parsers ``parser_of_all`` gives."""
    parser = commands.add_parser(
        "completion",
        help="print the script that completes commands and options in bash, zsh or fish",
        description="Prints a script that makes the shell complete commands, options and their values.",
        epilog="examples:\n"
        '  eval "$(mpi-queues completion bash)"                # in ~/.bashrc, or with bash-completion:\n'
        "  mpi-queues completion bash > ~/.local/share/bash-completion/completions/mpi-queues\n"
        "  mpi-queues completion zsh > ~/.zfunc/_mpi-queues    # a directory of $fpath\n"
        "  mpi-queues completion fish > ~/.config/fish/completions/mpi-queues.fish",
    )
    parser.add_argument("shell", choices=tuple(SHELLS), metavar="|".join(SHELLS))
    parser.set_defaults(run=lambda options: _run(options, parser_of_all()))


def _run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    sys.stdout.write(SHELLS[options.shell](tables(parser)))
    return 0
