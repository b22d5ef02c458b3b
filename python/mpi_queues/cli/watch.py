"""``mpi-queues watch``: looks at a job until it is stuck, then records and diagnoses it."""

from __future__ import annotations

import argparse
import shlex
import signal
from typing import Any, List

from ..errors import UsageError
from ..request import Request
from ..watching import ending
from ..watching.looks import Looks, finder
from ..watching.service import Orders, Service
from .named import only_job
from .options import add_engine, add_job, add_timeout, named_job

#: The exit status where the job was stuck: EX_TEMPFAIL of sysexits.h, which no MPI gives to a job.
STUCK = 75

_DEFAULT_AFTER = "10m"

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def add_command(commands: Any) -> None:
    """Adds ``watch`` to the command line."""
    parser = commands.add_parser(
        "watch",
        help="look at a job until it is stuck, then record and diagnose it",
        description="Looks at a running job now and then, at little cost. If nothing in it has moved for the given "
        "time, writes its diagnosis and a recording of all ranks into a directory. A rank that computes "
        "moves; so does one that sleeps outside MPI (see --idle). SIGUSR1 makes it write at once what is "
        "known; so does SIGTERM, which also ends the watch.",
        epilog="examples:\n"
        "  mpi-queues watch -o hang                      the only job here\n"
        "  mpi-queues watch mpirun --after 10m -o hang\n"
        "  mpi-queues watch slurm:1234 --after 1h -o hang --end\n"
        '  mpi-queues watch 4242 -o hang --then "mail -s hang me@example.org"\n\n'
        f"Exit status: 0 if the job has ended; {STUCK} if it was stuck; {128 + signal.SIGTERM} if SIGTERM ended the "
        "watch; 2 for bad usage; 3 if there is no such job.",
    )
    add_job(parser)
    add_options(parser, needed=True)
    add_engine(parser)
    parser.set_defaults(run=run)


def add_options(parser: Any, *, needed: bool) -> None:
    """Adds the options that say when, and what is done then; with ``run`` they are of ``--watch``."""
    parser.add_argument(
        "--after",
        type=_time,
        default=None,
        metavar="TIME",
        help="how long nothing must have moved before the job counts as stuck: 90s, 10m, 1h or seconds (default: "
        f"{_DEFAULT_AFTER})",
    )
    parser.add_argument(
        "-o",
        "--output",
        required=needed,
        metavar="DIR",
        help="the directory for diagnosis.txt, .json and .html, and job.mpirec; no file in it is replaced",
    )
    parser.add_argument(
        "--then",
        metavar="COMMAND",
        help="then run this, without a shell; its standard input is the JSON, and MPI_QUEUES_DIR, _STATE, _HEADLINE, "
        "_SINCE and _JOB_NAME in its environment say where the files are and what is wrong",
    )
    parser.add_argument("--end", action="store_true", help="then end the job")
    parser.add_argument(
        "--idle",
        action="store_true",
        help="ranks outside MPI that only sleep, or wait for a file or a script, count as not moving (default: as "
        "moving)",
    )
    add_timeout(parser, "limit for the time that ranks are stopped at a look (default: 60)")


def orders(options: argparse.Namespace) -> Orders:
    """What the options say.

    Raises:
        UsageError: where a command is none.
    """
    try:
        words = shlex.split(options.then or "")
    except ValueError as error:
        raise UsageError(
            f"--then {options.then}: {error}", help='such as --then "mail -s hang me@example.org"'
        ) from None
    if options.then is not None and not words:
        raise UsageError("--then: no command given", help='such as --then "mail -s hang me@example.org"')
    after = options.after if options.after is not None else _time(_DEFAULT_AFTER)
    return Orders(after, options.output, words, options.end, options.idle)


def run(options: argparse.Namespace) -> int:
    """``mpi-queues watch``."""
    given = orders(options)
    job = named_job(options)
    if job is None:
        job = str(only_job(options.timeout).pid)
    if options.end:
        ending.command(job)
    find, launcher, name = finder(job, options.timeout, options.engine)
    service = Service(given)
    service.begin(name, Looks(find, Request(timeout=options.timeout)), launcher)
    asked: List[int] = []

    def came(number: int, frame: object) -> None:
        asked.append(number)
        service.bell.ring()

    before = {number: signal.signal(number, came) for number in (signal.SIGTERM, signal.SIGUSR1)}
    try:
        return _watch(service, given, asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        service.bell.close()


def _watch(service: Service, given: Orders, asked: List[int]) -> int:
    """``asked`` are the signals that have come."""
    while not service.has_ended:
        while asked:
            number = asked.pop(0)
            service.write_now(signal.Signals(number).name)
            if number == signal.SIGTERM:
                return 128 + signal.SIGTERM
        if not service.look():
            return 0
        if service.has_alarmed:
            if given.end:
                service.end_job()
            return STUCK
        if not asked:
            service.wait()
    return 0


def _time(text: str) -> float:
    unit = _UNITS.get(text[-1:])
    try:
        seconds = float(text[:-1] if unit else text) * (unit or 1.0)
    except ValueError:
        seconds = 0.0
    if not 1 <= seconds <= 31 * 86400:
        raise argparse.ArgumentTypeError(f"{text}: not a time of a second or more, such as 90s, 10m or 1h")
    return seconds
