"""``mpi-queues show`` and ``comms``: reads the processes, filters, prints."""

from __future__ import annotations

import argparse
import sys
from typing import Any, List, Tuple

from .._native import Snapshot
from ..errors import UsageError, UserError
from ..report import grouped, handles, text
from .answers import chosen, finish, merged, terminal_style, terminal_width, write_facts, write_json
from .options import add_format, add_source, add_targets, add_wrappers, request_of, requested, row_limit

#: Of more ranks only what differs is told, unless all is asked for.
_MOST_RANKS = 8


def add_commands(commands: Any) -> None:
    """Adds ``show`` and ``comms`` to the command line."""
    _add_show(commands)
    _add_comms(commands)


def _add_show(commands: Any) -> None:
    parser = commands.add_parser(
        "show",
        help="pending sends and receives, unexpected messages",
        description="Shows the message queues of MPI processes: of core files, and of live processes, which are "
        "stopped while they are read and then go on.",
        epilog="examples:\n"
        "  mpi-queues show mpirun\n"
        "  mpi-queues show 4242 --by communicator\n"
        "  mpi-queues show $(pgrep -x my_solver) --comm halo\n"
        "  mpi-queues show core.4242 --exe ./my_solver\n"
        "  mpi-queues show --pid 4242 --format json | jq '.processes[].communicators[].name'",
    )
    add_targets(parser)
    _add_reading(parser)
    parser.add_argument(
        "--internal", action="store_true", help="also show operations of MPI itself, with their collective"
    )
    parser.add_argument("--compare", action="store_true", help="show where the built-in reader and the plug-in differ")
    parser.add_argument(
        "--limit",
        type=row_limit,
        default=text.DEFAULT_LIMIT,
        metavar="N",
        help="show at most this many rows of a queue in text, or 'all' (default: 200)",
    )
    parser.add_argument(
        "--by",
        choices=("rank", "communicator", "difference"),
        help="text: each rank; each communicator once, with all ranks that wait in it; or only what differs (default: "
        f"rank; above {_MOST_RANKS} ranks difference)",
    )
    parser.add_argument("--all", action="store_true", help="text: show each rank, however many there are")
    parser.set_defaults(run=show)


def _add_comms(commands: Any) -> None:
    parser = commands.add_parser(
        "comms",
        help="communicators with their groups",
        description="Shows the communicators of live MPI processes and of core files.",
        epilog="examples:\n  mpi-queues comms 4242\n  mpi-queues comms 4242 -v --comm grid",
    )
    add_targets(parser)
    _add_reading(parser)
    parser.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="also show topology, attributes, error handler, hints, and what uses it",
    )
    parser.set_defaults(run=comms)


def _add_reading(parser: argparse.ArgumentParser) -> None:
    add_format(parser)
    add_source(parser)
    add_wrappers(parser)
    parser.add_argument("--comm", metavar="NAME", help="only communicators with this name")
    parser.add_argument("--rank", type=int, metavar="N", help="only the process of this rank in MPI_COMM_WORLD")


def show(options: argparse.Namespace) -> int:
    """``mpi-queues show``."""
    if options.compare:
        return _compare(options)
    snapshot, failures = _read(options, queues=True)
    found = chosen(snapshot, comm=options.comm, rank=options.rank)
    shown = found if options.internal else found.filtered(internal=False)
    if options.format == "json":
        write_json(shown)
    else:
        views = {"communicator": grouped.write_by_communicator, "difference": grouped.write_by_difference}
        few = options.all or len(shown.processes) <= _MOST_RANKS
        by = options.by or ("rank" if few else "difference")
        views.get(by, text.write_queues)(
            shown,
            sys.stdout.write,
            text.Options(
                width=terminal_width(),
                limit=options.limit,
                hidden_internal=text.count_operations(found) - text.count_operations(shown),
                show_internal="--internal",
                show_more="--limit all",
                every_communicator=options.comm is not None,
                style=terminal_style(),
            ),
        )
        if not few and options.by is None:
            sys.stdout.write("To see each rank: --all\n")
    return finish(shown, failures, options)


def comms(options: argparse.Namespace) -> int:
    """``mpi-queues comms``."""
    if options.verbose:
        return _explain(options)
    snapshot, failures = _read(options, queues=False)
    shown = chosen(snapshot, comm=options.comm, rank=options.rank)
    if options.format == "json":
        write_json(shown)
    else:
        text.write_communicators(shown, sys.stdout.write, text.Options(width=terminal_width(), style=terminal_style()))
    return finish(shown, failures, options)


def _explain(options: argparse.Namespace) -> int:
    """All that is known of each communicator."""
    if options.source.startswith("plugin"):
        raise UsageError(
            "a message-queue plug-in knows names and groups only, so --verbose has nothing to add",
            help="leave out --source",
        )
    request = request_of(options, "auto", action="handles", wanted=(("comm", options.comm),))
    snapshot, failures = merged(requested(options), request, options)
    shown = chosen(snapshot, rank=options.rank)
    if options.format == "json":
        write_json(shown)
    else:
        handles.write_handles(shown, sys.stdout.write, text.Options(style=terminal_style()), full=True)
    return finish(shown, failures, options)


def _read(options: argparse.Namespace, *, queues: bool) -> Tuple[Snapshot, List[UserError]]:
    wanted = requested(options)
    return merged(wanted, request_of(options, queues=queues), options)


def _compare(options: argparse.Namespace) -> int:
    if options.format == "json":
        raise UsageError("--compare writes text only", help="leave out --format json")
    source = "plugin" if options.source in ("auto", "builtin", "recorder") else options.source
    return write_facts(
        requested(options),
        request_of(options, source, action="compare"),
        lambda label, told: text.write_differences(label, told, sys.stdout.write),
    )
