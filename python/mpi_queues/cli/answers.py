"""What commands do with what targets answer: one snapshot, JSON, what could not be read, the exit status."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from typing import Any, Callable, Iterable, List, Optional, Sequence, Tuple, Union

from .._native import Diagnosis, Snapshot, StackTree
from ..errors import UsageError, UserError
from ..report import problems as report
from ..report import text
from ..report.words import WIDTH, at_most
from ..request import Request
from ..system import written
from ..system.output import ours
from ..system.paths import shown
from ..targets import asking
from ..targets.target import Target

#: What is shown as JSON.
Written = Union[Snapshot, Diagnosis, StackTree]


def write_json(told: Written) -> None:
    """The JSON on standard output."""
    told.write_json(sys.stdout.write, indent=2)
    sys.stdout.write("\n")


def merged(
    wanted: Sequence[Target],
    request: Request,
    options: argparse.Namespace,
    of: Optional[Callable[[Snapshot], Written]] = None,
) -> Tuple[Snapshot, List[UserError]]:
    """What all targets say to the request, in one snapshot, and which could not be read.

    ``of`` gives what the JSON is of, where that is more than the snapshot.

    Raises:
        UserError: where none could be.
    """
    found = asking.snapshots(wanted, request)
    if not found.told and options.format == "json":
        # For programs the reasons stand where they always do; people read them on standard error.
        nothing = Snapshot.merged([], found.problems)
        write_json(nothing if of is None else of(nothing))
    found.check()
    return found.merged(), found.failures


def write_facts(wanted: Sequence[Target], request: Request, write: Callable[[str, Any], None]) -> int:
    """Has written what each process answers, by what it is called; returns the exit status.

    Raises:
        UserError: where none does.
    """
    found = asking.facts(wanted, request)
    found.check()
    for label, answer in found.told:
        write(label, answer)
    return tell(map(str, found.failures))


def tell(problems: Iterable[str]) -> int:
    """What could not be read, on standard error; returns the exit status."""
    sys.stdout.flush()
    told = list(problems)
    for problem in told:
        print(f"mpi-queues: {problem}", file=sys.stderr)
    return 1 if told else 0


def tell_written(path: str, what: str) -> None:
    """What was written to a file: on standard error where standard output may be that file."""
    told_to = sys.stdout if written.is_file(path) else sys.stderr
    print(f"{shown(path)}: {what}", file=told_to, flush=True)


def chosen(snapshot: Snapshot, *, comm: Optional[str] = None, rank: Optional[int] = None) -> Snapshot:
    """What ``--comm`` and ``--rank`` leave of it.

    Raises:
        UsageError: where there is no such thing.
    """
    try:
        return text.chosen(snapshot, comm=comm, rank=rank)
    except UserError as error:
        # The processes were read; it is the name that is wrong.
        raise UsageError(str(error.args[0]), help="to see all, leave out --comm and --rank") from None


def finish(
    snapshot: Snapshot, failures: List[UserError], options: argparse.Namespace, *, told: Optional[bool] = None
) -> int:
    """Tells on standard error what could not be read, unless the report has just said so on the same terminal (``told``
    says whether it did, where that is not what reports do)."""
    problems = [*map(str, failures), *report.of_snapshot(snapshot)]
    if told is None:
        told = options.format == "text" and sys.stdout.isatty() and sys.stderr.isatty()
    if not told:
        tell(at_most(problems))
    return 1 if problems else 0


def terminal_style() -> Callable[[str, str], str]:
    """Emphasis on a terminal that wants it (https://no-color.org), none elsewhere."""
    codes = {"process": "1", "communicator": "36", "problem": "33", "headline": "1", "deadlock": "1;31"}
    wanted: Optional[str] = os.environ.get("NO_COLOR")
    if wanted or not sys.stdout.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        return lambda kind, shown: shown
    return lambda kind, shown: ours(f"\x1b[{codes[kind]}m") + shown + ours("\x1b[0m") if kind in codes else shown


def terminal_width() -> int:
    """Columns of the terminal that is written to; those of a report elsewhere."""
    if not sys.stdout.isatty():
        return WIDTH
    return max(40, shutil.get_terminal_size((WIDTH, 24)).columns)
