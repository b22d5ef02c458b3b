"""``mpi-queues help``: what ``--help`` says, for those who type it so."""

from __future__ import annotations

import argparse
from typing import Any, Callable

from .parser import Parser


def add_command(commands: Any, parser_of_all: Callable[[], Parser]) -> None:
    """Adds ``help`` to the command line, whose parsers ``parser_of_all`` gives."""
    parser = commands.add_parser(
        "help",
        help="the help of a command",
        description="Prints the help of a command, as COMMAND --help does.",
        epilog="examples:\n  mpi-queues help\n  mpi-queues help diagnose\n  mpi-queues help layouts make",
    )
    parser.add_argument("words", nargs="*", metavar="COMMAND", help="the command (default: all commands)")
    parser.set_defaults(run=lambda options: _run(options, parser_of_all()))


def _run(options: argparse.Namespace, parser: Parser) -> int:
    for word in options.words:
        parser = parser.below(word)
    parser.print_help()
    return 0
