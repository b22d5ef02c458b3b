"""``mpi-queues run``: starts a job with the flight recorder, or watched, or both, and is in nothing else in its way."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from typing import Any, List

from ..errors import UsageError
from ..launchers import preloading
from ..request import Request
from ..system import recorder
from ..watching.looks import Looks, of_launcher
from ..watching.service import Orders, Service
from ..watching.supervising import NOT_EXECUTABLE, Launcher, become
from . import watch
from .options import add_engine

#: Signals before which it is written what is known: batch systems send them before they end a job.
_WRITTEN_BEFORE = (signal.SIGTERM, signal.SIGUSR1)

#: Options that are of --watch, by their names among the parsed ones.
_OF_WATCH = {"after": "--after", "output": "-o", "then": "--then", "end": "--end", "idle": "--idle"}


def add_command(commands: Any) -> None:
    """Adds ``run`` to the command line."""
    parser = commands.add_parser(
        "run",
        usage="mpi-queues run [--recorder] [--watch -o DIR [--after TIME]] -- COMMAND...",
        help="start a job with the flight recorder, or watched, or both",
        description="Starts a job as the command alone would. The flight recorder is preloaded into its ranks through "
        "the launcher's option for environment variables. A watch looks at the job now and then and, if "
        "the job is stuck, writes down why (see: mpi-queues watch --help). Terminal, signals and exit "
        "status are the job's. On SIGTERM or SIGUSR1, the watch writes what is known before the job "
        "receives the signal.",
        epilog="examples:\n"
        "  mpi-queues run -- mpirun -n 64 ./solver\n"
        "  mpi-queues run --watch --after 10m -o hang -- srun -N 4 ./solver\n"
        "  mpi-queues run --recorder --watch -o hang --end -- mpirun -n 64 ./solver\n\n"
        f"Exit status: the job's own; {watch.STUCK} if --end has ended it; 127 if the command does not exist, "
        "126 if it cannot be started.",
    )
    parser.add_argument(
        "--recorder", action="store_true", help="preload the flight recorder (the default without --watch)"
    )
    parser.add_argument("--library", metavar="FILE", help="another build of the recorder than this package's")
    parser.add_argument("--watch", action="store_true", help="look at the job until it is stuck")
    watch.add_options(parser, needed=False)
    add_engine(parser)
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND", help="the launcher and its arguments")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """``mpi-queues run``."""
    command: List[str] = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        raise UsageError("no command given", help="type: mpi-queues run -- mpirun -n 4 ./solver")
    unused = [] if options.watch else [option for name, option in _OF_WATCH.items() if getattr(options, name)]
    if unused:
        raise UsageError(f"{unused[0]} works only with --watch", help=f"type: --watch {unused[0]}")
    if options.watch and options.output is None:
        raise UsageError("--watch needs a directory to write into", help="type: --watch -o DIR")
    made = preloading.Preloaded(command, dict(os.environ), None)
    if options.recorder or options.library is not None or not options.watch:
        made = preloading.with_library(command, recorder.path(options.library), made.environment)
        _tell_unknown(command, made)
    if not options.watch:
        become(made.command, made.environment)
        return NOT_EXECUTABLE
    return _watched(made, options)


def _watched(made: preloading.Preloaded, options: argparse.Namespace) -> int:
    given = watch.orders(options)
    # What is wrong with the directory is told before anything is started.
    service = Service(given)
    with Launcher(made.command, made.environment, _WRITTEN_BEFORE) as launcher:
        looks = Looks(of_launcher(launcher.pid, options.timeout, options.engine), Request(timeout=options.timeout))
        service.begin(f"{os.path.basename(made.command[0])} (pid {launcher.pid})", looks, launcher.pid)
        before = signal.set_wakeup_fd(service.bell.write_end, warn_on_full_buffer=False)
        try:
            ended = _beside(launcher, service, given)
        finally:
            signal.set_wakeup_fd(before)
    return watch.STUCK if ended else launcher.ended()


def _beside(launcher: Launcher, service: Service, given: Orders) -> bool:
    """Watches until the launcher has ended; whether we have ended it."""
    ended = False
    watches = True
    while launcher.status is None:
        try:
            ended = _watch_once(launcher, service, given, watches) or ended
        except BaseException as error:  # noqa: BLE001 - the job goes on whatever becomes of its watch
            watches = False
            print(f"mpi-queues: the watch has failed; the job goes on: {error}", file=sys.stderr)
        if not watches or ended:
            launcher.holding = ()
            for number in list(launcher.held):
                launcher.pass_on(number)
        if launcher.status is None:
            # A signal that came meanwhile has rung already.
            service.wait()
    return ended


def _watch_once(launcher: Launcher, service: Service, given: Orders, watches: bool) -> bool:
    """Writes what signals ask for, and looks once; whether the job was ended for it."""
    if not watches:
        return False
    for number in list(launcher.held):
        service.write_now(signal.Signals(number).name)
        launcher.pass_on(number)
    if service.has_alarmed or launcher.status is not None:
        return False
    service.look()
    if not (service.has_alarmed and given.end) or launcher.status is not None:
        return False
    launcher.holding = ()
    service.end_job()
    return True


def _tell_unknown(command: List[str], made: preloading.Preloaded) -> None:
    """A script may start anything: what it does not hand on to the ranks is not there."""
    if made.launcher is None:
        print(
            f"mpi-queues: {preloading.described(command[0])} is not a known launcher: {preloading.NAME} names the "
            "recorder for the whole command, and ranks have it only if that is passed on to them",
            file=sys.stderr,
        )
