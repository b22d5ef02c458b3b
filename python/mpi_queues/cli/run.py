"""``mpi-queues run``: starts a job with the flight recorder, or watched, or both, and is in nothing else in its way."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
from typing import Any, Dict, List, NoReturn

from ..errors import UsageError
from ..launchers import preloading
from ..system import recorder
from ..system.paths import shown

#: What shells say of a command that is not there, and of one that they may not start.
_NOT_FOUND, _NOT_EXECUTABLE = 127, 126


def add_command(commands: Any) -> None:
    """Adds ``run`` to the command line."""
    parser = commands.add_parser(
        "run",
        usage="mpi-queues run [--recorder] [--library FILE] -- COMMAND...",
        help="start a job with the flight recorder",
        description="Starts a job as the command alone would, with the flight recorder under its ranks: the option\n"
        "that its launcher has for environment variables preloads it. The command becomes the launcher\n"
        "itself: terminal, signals and exit status are the job's.",
        epilog="examples:\n"
        "  mpi-queues run -- mpirun -n 64 ./solver\n"
        "  mpi-queues run -- srun -N 4 ./solver\n\n"
        "Exit status: the job's own; 127 where the command is not there, 126 where it cannot be started.",
    )
    add_recorder(parser)
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND", help="the launcher and its arguments")
    parser.set_defaults(run=run)


def add_recorder(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the flight recorder."""
    parser.add_argument(
        "--recorder", action="store_true", help="preload the flight recorder (the default where nothing is asked for)"
    )
    parser.add_argument("--library", metavar="FILE", help="another build of the recorder than that of this package")


def run(options: argparse.Namespace) -> int:
    """``mpi-queues run``."""
    command: List[str] = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        raise UsageError("no command is named", help="type: mpi-queues run -- mpirun -n 4 ./solver")
    environment: Dict[str, str] = dict(os.environ)
    made = preloading.with_library(command, recorder.path(options.library), environment)
    _tell_unknown(command, made)
    _become(made)
    return _NOT_EXECUTABLE


def _tell_unknown(command: List[str], made: preloading.Preloaded) -> None:
    """A script may start anything: what it does not hand on to the ranks is not there."""
    if made.launcher is None:
        print(
            f"mpi-queues: {preloading.described(command[0])} is no launcher that is known here: the whole command has "
            f"the recorder in {preloading.NAME}, and ranks have it where that is handed on to them",
            file=sys.stderr,
        )


def _become(made: preloading.Preloaded) -> NoReturn:
    """Replaces this process by the launcher.

    Raises:
        SystemExit: where that cannot be started, with the status that shells give.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    # Python ignores these, and a program that is started would, too.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(made.command[0], made.command, made.environment)
    except OSError as error:
        with contextlib.suppress(OSError):
            print(f"mpi-queues: {shown(made.command[0])}: {error.strerror}", file=sys.stderr)
        raise SystemExit(_NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_EXECUTABLE) from None
