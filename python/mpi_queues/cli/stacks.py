"""``mpi-queues stacks``: the stacks of all ranks merged into one tree."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import Any, List

from .. import targets
from .._native import Snapshot
from ..errors import UserError
from ..report import stacks as report
from ..report import worlds
from . import show
from .diagnose import terminal_width
from .options import add_format, add_wrappers, requested


def add_command(commands: Any) -> None:
    """Adds ``stacks`` to the command line."""
    parser = commands.add_parser(
        "stacks",
        help="where all ranks stand: their stacks as one tree, and who is not where the others are",
        description="Merges the stacks of all processes into one tree, outermost frame first; each branch says which\n"
        "ranks are in it, and which are not. Needs no queues: any process has stacks. Frames inside MPI, of\n"
        "libraries that wrap it, of interpreters and before main are left out.",
        epilog="examples:\n"
        "  mpi-queues stacks --job mpirun\n"
        "  mpi-queues stacks --job 4242 --threads\n"
        "  mpi-queues stacks --recording hang.mpirec --rank 3 --internal\n"
        "  mpi-queues stacks --core core.1 --core core.2 --format json | jq '.stacks.nodes[] | .function, .ranks'",
    )
    targets.add_options(parser)
    add_format(parser)
    add_wrappers(parser)
    parser.add_argument(
        "--threads",
        action="store_true",
        help="also the other threads, but those of the MPI library and its helpers",
    )
    parser.add_argument("--rank", type=int, metavar="N", help="only the process of this rank in MPI_COMM_WORLD")
    parser.add_argument("--internal", action="store_true", help="all frames, with --threads also all threads")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """``mpi-queues stacks``."""
    wanted = targets.requested(options)
    request = replace(requested(options), action="stacks", queues=False, stacks=True)
    snapshot, failures = show.merged(wanted, request, options, lambda unread: _write_json(unread, options))
    snapshot = show.chosen(snapshot, argparse.Namespace(comm=None, rank=options.rank))
    tree = snapshot.stacks(threads=options.threads, internal=options.internal, rank=options.rank)
    if options.format == "json":
        tree.write_json(sys.stdout.write, indent=2)
        sys.stdout.write("\n")
    else:
        report.write_stacks(
            tree,
            sys.stdout.write,
            report.Options(width=terminal_width(), all_of_it="all of it: --format json", style=show.terminal_style()),
        )
    return show.finish(snapshot, [*failures, *_without_stacks(snapshot)], options, told=False)


def _write_json(snapshot: Snapshot, options: argparse.Namespace) -> None:
    snapshot.stacks(threads=options.threads, internal=options.internal).write_json(sys.stdout.write, indent=2)
    sys.stdout.write("\n")


def _without_stacks(snapshot: Snapshot) -> List[UserError]:
    """Processes that were read and of which no stack could be."""
    return [
        UserError(f"{worlds.who(process)}: no stack of it could be read")
        for process in snapshot.processes
        if not process.problems and not any(stack["frames"] for stack in process.stacks)
    ]
