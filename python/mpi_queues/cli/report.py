"""``mpi-queues report``: why it is stuck, as one file to look at."""

from __future__ import annotations

import argparse
import shlex
from typing import Any, List

from ..errors import UsageError, UserError
from ..page import comparison, writing
from ..report.words import size
from ..system.paths import shown
from ..targets.recording import RecordingTarget
from ..targets.report import diagnosis_in
from . import diagnose
from .answers import finish, tell_written
from .named import Word
from .options import add_source, add_targets, add_wrappers, resolve


def add_command(commands: Any) -> None:
    """Adds ``report`` to the command line."""
    parser = commands.add_parser(
        "report",
        help="why is it stuck, as one HTML file to look at, to mail, to keep",
        description="Writes one file that shows why a job is stuck: the cause, the graph of which ranks wait for "
        "which, the merged stacks, ranks and communicators, and messages. It needs no network and no "
        "server, and can be read again as a recording can. A name that ends in .svg or .dot gives the "
        "graph alone. Two files (JSON of diagnose, reports or recordings) are compared; one JSON file is "
        "shown.",
        epilog="examples:\n"
        "  mpi-queues report mpirun -o hang.html\n"
        "  mpi-queues report hang.mpirec -o hang.svg\n"
        "  mpi-queues diagnose hang.html\n"
        "  mpi-queues report before.json after.json -o changed.html",
    )
    add_targets(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="the file to write: .html, or the graph as .svg or .dot"
    )
    parser.add_argument("--no-source", action="store_true", help="do not quote the program's source")
    add_source(parser)
    add_wrappers(parser)
    diagnose.add_looks(parser)
    parser.set_defaults(run=run, format="text")


def run(options: argparse.Namespace) -> int:
    """``mpi-queues report``."""
    ending = writing.ending_of(options.output)
    files = _files(options)
    if len(files) > 2 or (files and len(files) != len(options.targets)):
        raise UsageError(
            "name one file to show or two to compare, and no other targets",
            help=f"such as: mpi-queues report {shown(shlex.join([*files[:2], '-o', options.output]))}",
        )
    failures: List[UserError] = []
    if len(files) == 2:
        if ending != ".html":
            raise UsageError("a comparison is an HTML file", help="such as: -o changed.html")
        before, diagnosis = (diagnosis_in(path) for path in files)
        names = (shown(files[0]), shown(files[1]))
        count = comparison.write(before, diagnosis, names, options.output)
    else:
        diagnosis, failures = (diagnosis_in(files[0]), []) if files else diagnose.diagnosed(options)
        count = writing.write(diagnosis, options.output, source=not options.no_source)
    tell_written(options.output, size(count))
    return finish(diagnosis.snapshot, failures, options, told=False)


def _files(options: argparse.Namespace) -> List[str]:
    """The files of JSON, reports and recordings that words name: one is shown, two are compared."""
    words = [one.text for one in options.targets if isinstance(one, Word)]
    resolve(options)
    return [one.path for one in options.targets if isinstance(one, RecordingTarget) and one.path in words]
