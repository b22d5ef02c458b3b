"""``mpi-queues show`` and ``comms``: reads the processes, filters, prints."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from typing import Callable, List, Optional, Sequence, Tuple

from .. import asking, targets
from .._native import Snapshot
from ..errors import UsageError, UserError
from ..report import grouped, handles, text
from ..report import problems as report
from ..report.words import at_most
from ..request import Request
from ..system.output import ours
from .options import requested

DEFAULT_LIMIT = text.DEFAULT_LIMIT


def show(options: argparse.Namespace) -> int:
    """``mpi-queues show``."""
    if options.compare:
        return _compare(options)
    snapshot, failures = read(options, queues=True)
    found = chosen(snapshot, options)
    shown = found if options.internal else found.filtered(internal=False)
    if options.format == "json":
        write_json(shown)
    else:
        views = {"communicator": grouped.write_by_communicator, "difference": grouped.write_by_difference}
        views.get(options.by, text.write_queues)(
            shown,
            sys.stdout.write,
            text.Options(
                limit=options.limit,
                hidden_internal=text.count_operations(found) - text.count_operations(shown),
                show_internal="--internal",
                show_more="--limit all",
                every_communicator=options.comm is not None,
                style=terminal_style(),
            ),
        )
    return finish(shown, failures, options)


def comms(options: argparse.Namespace) -> int:
    """``mpi-queues comms``."""
    if options.verbose:
        return _explain(options)
    snapshot, failures = read(options, queues=False)
    shown = chosen(snapshot, options)
    if options.format == "json":
        write_json(shown)
    else:
        text.write_communicators(shown, sys.stdout.write, text.Options(style=terminal_style()))
    return finish(shown, failures, options)


def _explain(options: argparse.Namespace) -> int:
    """All that is known of each communicator."""
    if options.source.startswith("plugin"):
        raise UsageError(
            "a message-queue plug-in knows names and groups only, so --verbose has nothing to add",
            help="leave out --source",
        )
    request = replace(requested(options), action="handles", wanted=(("comm", options.comm),))
    snapshot, failures = merged(targets.requested(options), request, options)
    shown = chosen(snapshot, argparse.Namespace(comm=None, rank=options.rank))
    if options.format == "json":
        write_json(shown)
    else:
        handles.write_handles(shown, sys.stdout.write, text.Options(style=terminal_style()), full=True)
    return finish(shown, failures, options)


def read(options: argparse.Namespace, *, queues: bool) -> Tuple[Snapshot, List[UserError]]:
    """Reads every process asked for into one snapshot, and says which could not be read.

    Raises:
        UserError: where none could be.
    """
    wanted = targets.requested(options)
    request = replace(requested(options, options.source), queues=queues)
    return merged(wanted, request, options)


def merged(
    wanted: Sequence[targets.Target],
    request: Request,
    options: argparse.Namespace,
    nothing: Optional[Callable[[Snapshot], object]] = None,
) -> Tuple[Snapshot, List[UserError]]:
    """What all targets say to the request, in one snapshot, and which could not be read.

    ``nothing`` writes the JSON of a snapshot of nothing but problems, where that is more than the snapshot's own.

    Raises:
        UserError: where none could be.
    """
    snapshots, failures = asking.snapshots(wanted, request)
    problems = [str(failure).replace("\n", "; ") for failure in failures]
    if not snapshots:
        if options.format == "json":
            # For programs the reasons stand where they always do; people read them on standard error.
            (nothing or write_json)(Snapshot.merged([], problems))
        asking.raise_all(failures)
    return Snapshot.merged(snapshots, problems, worlds=asking.worlds(wanted)), failures


def chosen(snapshot: Snapshot, options: argparse.Namespace) -> Snapshot:
    """What ``--comm`` and ``--rank`` leave of it.

    Raises:
        UsageError: where there is no such thing.
    """
    try:
        return text.chosen(snapshot, comm=options.comm, rank=options.rank)
    except UserError as error:
        # The processes were read; it is the name that is wrong.
        raise UsageError(str(error.args[0]), help="to see all, leave out --comm and --rank") from None


def _compare(options: argparse.Namespace) -> int:
    if options.format == "json":
        raise UsageError("--compare writes text only", help="leave out --format json")
    wanted = targets.requested(options)
    source = "plugin" if options.source in ("auto", "builtin", "recorder") else options.source
    request = replace(requested(options, source), action="compare")
    answers, failures = asking.facts(wanted, request, request.compare)
    if not answers:
        asking.raise_all(failures)
    for label, differences in answers:
        text.write_differences(label, differences, sys.stdout.write)
    for failure in failures:
        print(f"mpi-queues: {failure}", file=sys.stderr)
    return 1 if failures else 0


def write_json(snapshot: Snapshot) -> None:
    """The JSON on standard output."""
    snapshot.write_json(sys.stdout.write, indent=2)
    sys.stdout.write("\n")


def finish(
    snapshot: Snapshot, failures: List[UserError], options: argparse.Namespace, *, told: Optional[bool] = None
) -> int:
    """Tells on standard error what could not be read, unless the report has just said so on the same terminal (``told``
    says whether it did, where that is not what reports do)."""
    problems = [*map(str, failures), *report.of_snapshot(snapshot)]
    if told is None:
        told = options.format == "text" and sys.stdout.isatty() and sys.stderr.isatty()
    if not told:
        sys.stdout.flush()
        for problem in at_most(problems):
            print(f"mpi-queues: {problem}", file=sys.stderr)
    return 1 if problems else 0


def terminal_style() -> Callable[[str, str], str]:
    """Emphasis on a terminal that wants it (https://no-color.org), none elsewhere."""
    codes = {"process": "1", "communicator": "36", "problem": "33", "headline": "1", "deadlock": "1;31"}
    wanted: Optional[str] = os.environ.get("NO_COLOR")
    if wanted or not sys.stdout.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        return lambda kind, shown: shown
    return lambda kind, shown: ours(f"\x1b[{codes[kind]}m") + shown + ours("\x1b[0m") if kind in codes else shown
