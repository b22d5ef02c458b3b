"""``mpi-queues stacks``: the stacks of all ranks merged into one tree."""

from __future__ import annotations

import argparse
import sys
from typing import Any, List, Optional

from .._native import Snapshot, StackTree
from ..errors import UserError
from ..report import stacks as report
from ..report import worlds
from .answers import chosen, finish, merged, terminal_style, terminal_width, write_json
from .options import add_format, add_targets, add_wrappers, request_of, requested


def add_command(commands: Any) -> None:
    """Adds ``stacks`` to the command line."""
    parser = commands.add_parser(
        "stacks",
        help="where all ranks are: their stacks as one tree, and which ranks are not where the others are",
        description="Merges the stacks of all processes into one tree, outermost frame first. Each branch says which "
        "ranks are in it and which are not. This needs no queues: any process has stacks. Frames inside "
        "MPI, in libraries that wrap it, in interpreters and before main are left out.",
        epilog="examples:\n"
        "  mpi-queues stacks mpirun\n"
        "  mpi-queues stacks 4242 --threads\n"
        "  mpi-queues stacks hang.mpirec --rank 3 --internal\n"
        "  mpi-queues stacks core.1 core.2 --format json | jq '.stacks.nodes[] | .function, .ranks'",
    )
    add_targets(parser)
    add_format(parser)
    add_wrappers(parser)
    parser.add_argument(
        "--threads",
        action="store_true",
        help="also show other threads, except those of the MPI library and its helpers",
    )
    parser.add_argument("--rank", type=int, metavar="N", help="only the process of this rank in MPI_COMM_WORLD")
    parser.add_argument("--internal", action="store_true", help="show all frames, and with --threads all threads")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """``mpi-queues stacks``."""

    def tree_of(snapshot: Snapshot, rank: Optional[int] = None) -> StackTree:
        return snapshot.stacks(threads=options.threads, internal=options.internal, rank=rank)

    wanted = requested(options)
    request = request_of(options, action="stacks", queues=False, stacks=True)
    snapshot, failures = merged(wanted, request, options, tree_of)
    snapshot = chosen(snapshot, rank=options.rank)
    tree = tree_of(snapshot, options.rank)
    if options.format == "json":
        write_json(tree)
    else:
        report.write_stacks(
            tree,
            sys.stdout.write,
            report.Options(width=terminal_width(), all_of_it="all of it: --format json", style=terminal_style()),
        )
    return finish(snapshot, [*failures, *_without_stacks(snapshot)], options, told=False)


def _without_stacks(snapshot: Snapshot) -> List[UserError]:
    """Processes that were read and of which no stack could be."""
    return [
        UserError(f"{worlds.who(process)}: its stacks could not be read")
        for process in snapshot.processes
        if not process.problems and not any(stack["frames"] for stack in process.stacks)
    ]
