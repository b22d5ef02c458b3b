"""``mpi-queues record`` and ``recording info``."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from typing import Any, Sequence

from ..errors import UsageError, UserError
from ..nodes import reading as nodes
from ..report import progress
from ..report.recording import write_info
from ..report.words import at_most, counted, size
from ..system.output import json_text
from ..system.paths import shown
from ..targets import asking, record, recording
from ..targets.lost import with_why
from ..targets.nodes import NodesTarget
from ..targets.target import Target, raise_all
from .answers import tell, tell_written
from .options import add_actions, add_format, add_targets, request_of, requested


def add_commands(commands: Any) -> None:
    """Adds ``record`` and ``recording`` to the command line."""
    parser = commands.add_parser(
        "record",
        help="write what a reader needs of the processes into one file",
        description="Writes what mpi-queues needs of the processes into one file: memory of the MPI library, symbols, "
        "layouts and stacks. The contents of messages are not in it. Every command that reads processes "
        "also reads such files (--recording).",
        epilog="examples:\n"
        "  mpi-queues record mpirun -o hang.mpirec\n"
        "  mpi-queues show hang.mpirec\n"
        "  mpi-queues record slurm:1234 -o DIR    one file for each node, in DIR on that node\n"
        "  the first, where ranks are on other hosts: theirs in hang.mpirec.nodes there",
    )
    add_targets(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        required=True,
        help="the file to write; for a job on many nodes, the directory on each node for that node's file",
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="also record all writable memory of the MPI library and the heap, for later versions",
    )
    parser.set_defaults(run=_record)
    parser = commands.add_parser(
        "recording",
        help="what is in a recording",
        description="Says what is in a file that mpi-queues record wrote.",
        epilog="example:\n  mpi-queues recording info hang.mpirec",
    )
    actions = add_actions(parser)
    action = actions.add_parser(
        "info",
        help="its processes, and how they were recorded",
        description="Says which processes a recording has, what made it and when, and what is damaged.",
        epilog="example:\n  mpi-queues recording info hang.mpirec --format json",
    )
    action.add_argument("file", metavar="FILE")
    add_format(action)
    action.set_defaults(run=_info)


def _record(options: argparse.Namespace) -> int:
    wanted = requested(options)
    of_nodes = asking.on_nodes(wanted)
    alone = len(wanted) == 1 or all(one.elsewhere for one in of_nodes)
    if of_nodes and (options.full or not alone):
        raise UsageError(
            f"{of_nodes[0].label}: each node records its own ranks: leave out other targets and --full",
            help=f"type: mpi-queues record --job {of_nodes[0].label} -o DIR",
        )
    if not of_nodes:
        return _record_here(wanted, options)
    if not of_nodes[0].elsewhere:
        return _record_on_nodes(of_nodes[0], options.output, options)
    # Of a launcher's ranks those that are here are in the file, as always.
    here = [one for one in wanted if one not in of_nodes]
    status = _record_here(here, options) if here else None
    for target in of_nodes:
        try:
            status = max(status or 0, _record_on_nodes(target, f"{options.output}.nodes", options))
        except UserError as error:
            why = [with_why(one.reason, str(error.args[0])) for one in target.elsewhere]
            if status is None:
                raise_all(why)
            status = tell(map(str, why))
    return status or 0


def _record_here(wanted: Sequence[Target], options: argparse.Namespace) -> int:
    found = record.record(wanted, request_of(options, full=options.full), options.output)
    count = found.processes
    what = "1 process" if count == 1 else f"{count} processes"
    tell_written(options.output, f"{what}, {size(found.size)}")
    return tell(at_most([*found.problems, *map(str, found.failures)]))


def _record_on_nodes(target: NodesTarget, output: str, options: argparse.Namespace) -> int:
    """Each node keeps its file: what a hung job of a thousand nodes has goes through no login node."""
    nodes.check(target.job, request_of(options))
    directory = os.path.abspath(output)
    files, problems, failures = nodes.record(target.job, directory, options.timeout, progress.of_nodes(), target.engine)
    if not files:
        raise_all(failures)
    for file in files:
        count = counted(file.processes, "process")
        print(f"{file.node}: {shown(file.path)}: {count}, {size(file.size)}")
    missing = [file for file in files if not os.path.exists(file.path)]
    named = missing or files
    if missing:
        print(f"\nThey are on their nodes. To fetch one, type:\n  {nodes.fetching(target.job, missing[0])}")
    read = " ".join(
        shlex.join(["--recording", os.path.basename(one.path) if missing else one.path]) for one in named[:2]
    )
    print(f"\nTo read them, type:\n  mpi-queues diagnose {read}" + (" …" if len(named) > 2 else ""), flush=True)
    return tell(at_most([*problems, *map(str, failures)]))


def _info(options: argparse.Namespace) -> int:
    opened = recording.open_recording(options.file)
    info = opened.info()
    if options.format == "json":
        sys.stdout.write(json_text(info))
    else:
        write_info(info, sys.stdout.write)
    return tell(f"{shown(options.file)}: {problem}" for problem in at_most(opened.problems))
