"""``mpi-queues handles``: the objects behind the handles of a kind, or what one handle means."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ..errors import UsageError
from ..handle_types import KINDS, kind_of, wanted
from ..report import handles as report
from ..report import text
from .answers import finish, merged, terminal_style, write_json
from .options import add_format, add_source, add_targets, request_of, requested, row_limit


def add_command(commands: Any) -> None:
    """Adds the command's parser."""
    parser = commands.add_parser(
        "handles",
        help="what MPI handles mean, and which objects were not freed",
        description="Lists the MPI library's objects of a kind, or explains those that VALUE names.",
        epilog="examples:\n"
        "  mpi-queues handles --pid 4242 comm\n"
        "  mpi-queues handles --pid 4242 comm halo\n"
        "  mpi-queues handles --pid 4242 request 0x55d0c8a3b2c0\n"
        "  mpi-queues handles --core core.4242 --exe ./my_solver datatype 73 --format json\n"
        "  mpi-queues handles --pid 4242 all -v",
    )
    add_targets(parser, words=False)
    parser.add_argument(
        "kind", metavar="KIND", type=_kind, help=f"{', '.join(KINDS)}, or their types in C (MPI_Comm); all: every kind"
    )
    parser.add_argument(
        "values",
        metavar="VALUE",
        nargs="*",
        help="only these: C handles (0x…), Fortran integers or names; for a status, its address",
    )
    add_format(parser)
    add_source(parser)
    parser.add_argument("-v", "--verbose", action="store_true", help="show all that is known about each")
    parser.add_argument(
        "--limit",
        type=row_limit,
        default=text.DEFAULT_LIMIT,
        metavar="N",
        help="show at most this many handles of a kind in text, or 'all' (default: 200)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Reads and shows them; returns the exit status."""
    asked = wanted(options.kind, options.values)
    request = request_of(options, action="handles", wanted=asked)
    snapshot, failures = merged(requested(options), request, options)
    if options.format == "json":
        write_json(snapshot)
    else:
        shown = text.Options(limit=options.limit, show_more="--limit all", style=terminal_style())
        full = options.verbose or bool(options.values)
        report.write_handles(snapshot, sys.stdout.write, shown, full=full)
    return finish(snapshot, failures, options)


def _kind(word: str) -> str:
    try:
        return kind_of(word)
    except UsageError as error:
        raise argparse.ArgumentTypeError(f"{error.args[0]}; there are {', '.join(KINDS)}, and all") from None
