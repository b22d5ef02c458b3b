"""``mpi-queues diagnose``: why is it stuck. Reads the processes, and live ones a second time where that tells more."""

from __future__ import annotations

import argparse
import contextlib
import shlex
import sys
import time
from functools import partial
from typing import Any, Dict, FrozenSet, List, Optional, Sequence, Tuple

from .. import _native
from .._native import Diagnosis, Snapshot
from ..errors import UsageError, UserError
from ..nodes import reading as nodes
from ..nodes.engines import AUTO as ANY_ENGINE
from ..report import diagnosis as report
from ..request import Request
from ..system import processes
from ..system.watching import watch
from ..targets import asking
from ..targets.report import ReportTarget
from ..targets.target import Target
from .answers import finish, merged, terminal_style, terminal_width, write_json
from .options import add_format, add_source, add_targets, add_wrappers, request_of, requested, seconds

#: How long live processes run on before the second look, in seconds, where one look suspects a deadlock.
AGAIN_AFTER = 0.5

#: A process that wants a processor must have had one for so long between two looks, in seconds: else it could not move.
RAN = _native.RAN

#: For how long it is waited for that, in seconds.
PATIENCE = 10.0


def add_command(commands: Any) -> None:
    """Adds ``diagnose`` to the command line."""
    parser = commands.add_parser(
        "diagnose",
        help="why is it stuck: the cause, the ranks, the calls with file and line",
        description="Says why an MPI job is stuck: which ranks wait for which and where, which messages do not match "
        "their receives, which ranks are in another collective or have not reached it; or that no rank is "
        "stuck. If one look finds or suspects a deadlock, or finds an odd rank, live processes run on for "
        "half a second and are read again: a rank that moves is not stuck. The exit status is 0 even if a "
        "deadlock is found.",
        epilog="examples:\n"
        "  mpi-queues diagnose                     the only job here\n"
        "  mpi-queues diagnose 4242 --twice 10     by the process id of its launcher\n"
        "  mpi-queues diagnose hang.mpirec -v\n"
        "  mpi-queues diagnose core.1 core.2 --format json | jq '.verdict, .diagnosis'",
    )
    add_targets(parser)
    add_format(parser)
    add_source(parser)
    add_wrappers(parser)
    add_looks(parser)
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="also show the evidence, all calls, and how each rank moved"
    )
    parser.set_defaults(run=run)


def add_looks(parser: argparse.ArgumentParser) -> None:
    """Adds ``--twice`` and ``--once``."""
    looks = parser.add_mutually_exclusive_group()
    looks.add_argument(
        "--twice",
        type=seconds(0.01),
        metavar="SECONDS",
        help="read live processes twice, this many seconds apart, and say what moved: stuck, slow, spinning",
    )
    looks.add_argument("--once", action="store_true", help="look only once, even if a deadlock is suspected")


def run(options: argparse.Namespace) -> int:
    """``mpi-queues diagnose``."""
    diagnosis, failures = diagnosed(options)
    _show(diagnosis, options)
    return finish(diagnosis.snapshot, failures, options, told=False)


def diagnosed(options: argparse.Namespace) -> Tuple[Diagnosis, List[UserError]]:
    """The diagnosis of what is named, after a second look where that tells more, and what could not be read.

    Raises:
        UserError: where nothing could be.
    """
    wanted = requested(options)
    request = request_of(options, stacks=True, tells_of_all=True)
    running = _running(wanted)
    lives = bool(running or asking.on_nodes(wanted))
    if options.twice is not None and not lives:
        raise UsageError(
            "--twice needs live processes: none of these targets runs on between two looks",
            help="leave out --twice",
        )
    if len(wanted) == 1 and isinstance(wanted[0], ReportTarget):
        # What two looks have told stands in it, and no later look can.
        kept = wanted[0].snapshot().diagnosis
        if kept is not None:
            return kept, []
    first, failures = merged(wanted, request, options, Snapshot.diagnose)
    interval = options.twice
    diagnosis = first.diagnose(keep=lives and not options.once)
    suspects: Optional[FrozenSet[int]] = None
    if interval is None and lives and not options.once and _asks_for_more(diagnosis):
        interval, suspects = AGAIN_AFTER, _suspects(diagnosis)
    if interval is not None:
        again = partial(_again, options=options, request=request, interval=interval, suspects=suspects)
        diagnosis, failures = again(diagnosis, running, wanted)
        # Messages go and nothing else happens, too, where a job begins or comes to a halt: not still at a third look.
        if diagnosis.live_lock:
            diagnosis.snapshot.outlive()
            diagnosis, failures = again(diagnosis, _running(wanted), wanted)
        nodes.close_all()
    first.outlive()
    diagnosis.snapshot.outlive()
    return diagnosis, failures


def _asks_for_more(diagnosis: Diagnosis) -> bool:
    """Whether a second look may tell more: where ranks are suspected, what moves is not stuck."""
    return diagnosis.state in ("deadlock", "suspect") or any(one.odd for one in diagnosis.findings)


def _suspects(diagnosis: Diagnosis) -> Optional[FrozenSet[int]]:
    """The ranks that something is said of; None where ranks of several worlds have the same numbers."""
    if len(diagnosis.snapshot.world_keys()) > 1:
        return None
    return frozenset(rank for finding in diagnosis.findings for rank in [*finding.ranks, *finding.waiting])


def _running(wanted: Sequence[Target]) -> Dict[int, int]:
    """The live processes that are not held by somebody: only those move between two looks, if they can."""
    return {
        target.pid: processes.start_time(target.pid) or 0
        for target in asking.live(wanted)
        if processes.state(target.pid) not in ("T", "t", "Z", "X", "")
    }


def _again(
    first: Diagnosis,
    running: Dict[int, int],
    wanted: Sequence[Target],
    *,
    options: argparse.Namespace,
    request: Request,
    interval: float,
    suspects: Optional[FrozenSet[int]],
) -> Tuple[Diagnosis, List[UserError]]:
    """Lets the processes run on and reads them again: the diagnosis of both looks, and what could not be read.

    ``running`` are the processes that ran, with when they were started; ``suspects`` the ranks that nodes are asked for
    again, None for all.
    """
    went_on = time.monotonic()
    for target in asking.on_nodes(wanted):
        nodes.begin(target.job, request, interval, suspects)
    used = {pid: processes.run_time(pid) for pid in running}
    watched = watch(running, went_on + interval)
    hungry = starved(used, PATIENCE)
    ran = time.monotonic() - went_on
    # The ranks of a job as they are now: some may have ended. Where all of it has, those that there were.
    with contextlib.suppress(UserError):
        wanted = requested(options)
    still = _running(wanted)
    same = [pid for pid, started in running.items() if still.get(pid) == started and pid not in hungry]
    found = asking.snapshots(wanted, request)
    jobs = [target.job for target in asking.on_nodes(wanted)]
    elsewhere = nodes.between(jobs)
    without = set(elsewhere.hungry)
    if not found.told and not still:
        why = "all processes ended between the two looks, so they were not stuck"
        found.failures.append(UserError(why, kind="gone"))
    problems = [
        f"pid {pid}: it got no CPU time between the two looks, so not moving proves nothing: look again with --twice 30"
        for pid in [*hungry, *(pid for _, pid in sorted(without))]
    ]
    again = [(host, [pid for pid in pids if (host, pid) not in without]) for host, pids in nodes.looked_at(jobs)]
    diagnosis = found.merged(problems).diagnose(
        first.snapshot.only([*same, *again]),
        interval_ms=int(ran * 1000),
        moving=[*sorted(watched.moving), *elsewhere.moving],
        unseen=[*sorted(watched.unseen), *elsewhere.unseen],
        first=first,
    )
    return diagnosis, found.failures


def starved(used: Dict[int, Optional[float]], patience: float) -> List[int]:
    """Those that want a processor and have had none since they had used so much of it (``processes.run_time``), after
    ``patience`` seconds; not those of which it is not known."""
    known = {pid: before for pid, before in used.items() if before is not None}
    deadline = time.monotonic() + patience
    while True:
        found = _native.starved(known, RAN)
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.05)


def _show(diagnosis: Diagnosis, options: argparse.Namespace) -> None:
    if options.format == "json":
        write_json(diagnosis)
        return
    named = _named(options)
    report.write_diagnosis(
        diagnosis,
        sys.stdout.write,
        report.Options(
            width=terminal_width(),
            verbose=options.verbose,
            more=f"mpi-queues diagnose {named} -v",
            queues_of=lambda rank: f"mpi-queues show {named} --rank {rank}",
            again=f"mpi-queues diagnose {named} --twice 1" if options.once else "",
            others="mpi-queues diagnose JOB (to see the jobs here: mpi-queues ranks)",
            style=terminal_style(),
        ),
    )


def _named(options: argparse.Namespace) -> str:
    """The targets as they were typed."""
    words = list(options.typed)
    if options.engine != ANY_ENGINE:
        words += ["--engine", options.engine]
    if len(words) > 12:
        return "TARGET..."
    return " ".join(shlex.quote(word) for word in words)
