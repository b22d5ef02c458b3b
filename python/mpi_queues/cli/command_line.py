"""The command ``mpi-queues``: arguments, exit status, and what goes to which stream.

Exit status: 0 done; 1 done, and something could not be read (told on standard error); 2 bad usage; 3 nothing could be
read.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import Optional, Sequence

from .. import starting
from ..errors import UsageError, UserError
from ..nodes import reading as nodes
from ..system import advice, watchdog
from ..system.output import OutputError, Stream, clean_streams
from ..targets import worker
from . import (
    completion,
    demo,
    diagnose,
    handles,
    helping,
    init,
    layouts,
    ranks,
    record,
    report,
    run,
    show,
    stacks,
    watch,
)
from .parser import USAGE, Parser
from .version import VersionAction

DONE, INCOMPLETE, NOTHING = 0, 1, 3

#: Said by shells of a command that a signal or a closed pipe ended.
_TERMINATED = 128 + signal.SIGTERM
_PIPE_CLOSED = 128 + signal.SIGPIPE


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs one command; returns the exit status. The program ends here where a thread of it stands for ever."""
    status = _main(arguments)
    if worker.left_behind():
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()
        os._exit(status)
    return status


def _main(arguments: Optional[Sequence[str]]) -> int:
    with clean_streams() as out:
        previous = signal.signal(signal.SIGTERM, _terminated)
        try:
            starting.ready()
            return _run(arguments, out)
        except BrokenPipeError:
            # Whoever read our output has seen enough.
            return _PIPE_CLOSED
        except OutputError as error:
            print(f"mpi-queues: cannot write to standard output: {error.strerror}", file=sys.stderr)
            return INCOMPLETE
        except KeyboardInterrupt as error:
            print("\nmpi-queues: interrupted; the processes were left as they were", file=sys.stderr)
            return _TERMINATED if error.args else starting.INTERRUPTED
        finally:
            advice.set_line(None)
            starting.guard()
            signal.signal(signal.SIGTERM, starting.end)
            nodes.close_all()
            signal.signal(signal.SIGTERM, previous)


def _run(arguments: Optional[Sequence[str]], out: Stream) -> int:
    try:
        options = parser().parse_args(arguments)
        advice.set_line(options.line)
        # What starts or watches jobs has something to do after a signal.
        lasts = options.run in (run.run, watch.run, demo.run)
        with contextlib.nullcontext() if lasts else watchdog.over_command():
            status: int = options.run(options)
    except UsageError as error:
        print(f"mpi-queues: {error}", file=sys.stderr)
        status = USAGE
    except UserError as error:
        print(f"mpi-queues: {error}", file=sys.stderr)
        status = NOTHING
    except SystemExit:
        # A help text, or an error of usage that is told already.
        _flush(out)
        raise
    _flush(out)
    return status


def _flush(out: Stream) -> None:
    """Writes what is not written yet.

    Raises:
        OSError: where standard output cannot be written to, or could not be before.
    """
    out.flush()
    if isinstance(out.failure, BrokenPipeError):
        raise out.failure
    if out.failure is not None:
        # argparse says nothing where it cannot write.
        raise OutputError(out.failure.errno, out.failure.strerror)


def _terminated(number: int, frame: object) -> None:
    # The same way out as Ctrl-C: every process goes on, every job that we started ends.
    raise KeyboardInterrupt("terminated")


def parser() -> Parser:
    """The parsers of all commands."""
    whole = Parser(
        prog="mpi-queues",
        description="Why is my MPI job stuck? Names the cause and shows what each rank waits for and which messages no "
        "rank has received.",
        epilog="examples:\n"
        "  mpi-queues ranks\n"
        "  mpi-queues diagnose\n"
        "  mpi-queues show mpirun --by difference\n\n"
        "To have the commands in gdb, type: mpi-queues init gdb --write; then in gdb: mpi diagnose",
    )
    whole.add_argument("--version", action=VersionAction, help="print the version of each part")
    commands = whole.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)
    diagnose.add_command(commands)
    report.add_command(commands)
    stacks.add_command(commands)
    show.add_commands(commands)
    handles.add_command(commands)
    ranks.add_command(commands)
    layouts.add_commands(commands)
    record.add_commands(commands)
    run.add_command(commands)
    watch.add_command(commands)
    init.add_command(commands)
    completion.add_command(commands, parser)
    demo.add_command(commands)
    helping.add_command(commands, parser)
    return whole
