"""Options that several commands share: which processes are meant, how they are read, and for whom it is written."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Tuple

from ..commands.plugins import requested_plugin
from ..errors import UsageError, UserError
from ..nodes.engines import AUTO as ANY_ENGINE
from ..nodes.engines import ENGINES
from ..request import WRAPPERS, Request, wrappers_in
from ..system import advice
from ..system.paths import shown
from ..targets.core import CoreTarget
from ..targets.jobs import of_jobs
from ..targets.process import PidTarget
from ..targets.reading import VIA, via_instead
from ..targets.recording import RecordingTarget
from ..targets.report import of_file
from ..targets.target import Target
from .named import JobTarget, Word, not_there, only_job, target_of
from .parser import TARGET

#: Who may read; with ``plugin=`` before it also the path of a plug-in.
SOURCES = ("auto", "builtin", "recorder", "plugin")

#: What to do where a plug-in that was named is not there.
_NO_PLUGIN = "the built-in reader needs none: leave out --source"


def add_format(parser: argparse.ArgumentParser) -> None:
    """Adds ``--format``."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people or for programs")


def add_source(parser: argparse.ArgumentParser) -> None:
    """Adds ``--source``: who reads, or tells what handles mean."""
    parser.add_argument(
        "--source",
        type=_source,
        default="auto",
        metavar="SOURCE",
        help="what reads the queues: auto, builtin, recorder, plugin or plugin=PATH (default: auto: the built-in "
        "reader, or the flight recorder if that one reads no queues)",
    )


def add_wrappers(parser: argparse.ArgumentParser) -> None:
    """Adds ``--wrappers``: what to look through on the way from MPI to the application."""
    parser.add_argument(
        "--wrappers",
        metavar="NAMES",
        help="libraries (libhalo.so) and functions (halo::, comm_*) that wrap MPI, separated by commas: a call is "
        f"shown where they are called (default: ${WRAPPERS}; mpi4py, Boost.MPI and the like are known)",
    )


def add_actions(parser: argparse.ArgumentParser) -> Any:
    """Makes it a command with commands of its own, which are added to what this returns."""
    return parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=type(parser))


def request_of(options: argparse.Namespace, source: Optional[str] = None, **asked: Any) -> Request:
    """What the options say of how targets are read, and what is ``asked`` of them; ``source`` is as of ``--source``, in
    place of that.

    Raises:
        UserError: where a plug-in that it names is not there.
    """
    kind, plugin = requested_plugin(str(source or getattr(options, "source", "auto")), None, _NO_PLUGIN)
    named = getattr(options, "wrappers", None)
    if named is not None:
        asked["wrappers"] = wrappers_in(named)
    return Request(source=kind, plugin=plugin, timeout=options.timeout, layouts=options.layouts, **asked)


def row_limit(text: str) -> Optional[int]:
    """Rows of text; None for all."""
    if text == "all":
        return None
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text}: neither a number nor 'all'")
    return int(text)


def _source(text: str) -> str:
    if text in SOURCES or (text.startswith("plugin=") and len(text) > len("plugin=")):
        return text
    raise argparse.ArgumentTypeError(f"{text}: not one of auto, builtin, plugin, plugin=PATH, recorder")


def _via(text: str) -> str:
    if text in VIA:
        return text
    raise argparse.ArgumentTypeError(via_instead(text))


def _layouts(text: str) -> str:
    path = os.path.abspath(text)
    if not os.path.isfile(path):
        raise argparse.ArgumentTypeError(f"{shown(text)}: no such file")
    return path


def add_targets(parser: argparse.ArgumentParser, *, words: bool = True) -> None:
    """Adds what names targets; they go to ``options.targets``, in the order in which they were given. ``words``: also
    those that stand for themselves."""
    group = parser.add_argument_group(
        "target", "what to read; each may be repeated and mixed with the others (default: the only job here)"
    )
    parser.set_defaults(targets=[], typed=[])
    if words:
        group.add_argument(
            "named",
            nargs="*",
            action=_Append,
            metavar="TARGET",
            help="a job by the process id or name of its launcher, or as slurm:JOBID and the like; a process by its "
            "id; or a file: a core file, recording or report",
        )
        group.add_argument(TARGET, action=_Append, dest="named", help=argparse.SUPPRESS)
    group.add_argument("--pid", type=_pid, action=_Append, metavar="PID", help="a live process")
    group.add_argument("--core", action=_Append, metavar="CORE", help="a core file")
    group.add_argument(
        "--exe",
        action=_Append,
        metavar="EXE",
        help="the program of the core file before it (default: the one that the core file names)",
    )
    group.add_argument("--recording", action=_Append, metavar="FILE", help="a file that mpi-queues record wrote")
    group.add_argument(
        "--job",
        action=_Append,
        metavar="JOB",
        help="all ranks of a job: process id or name of its launcher on this machine (see: mpi-queues ranks), or "
        "slurm:JOBID, slurm:JOBID.STEP, flux:JOBID, pbs:JOBID, lsf:JOBID, pals:JOBID, hosts:NODESET, "
        "hosts:USER@NODESET",
    )
    add_engine(group)
    group.add_argument(
        "--via",
        type=_via,
        default="auto",
        metavar="auto|native",
        help="what reads processes and core files: auto and native both mean mpi-queues itself (in gdb and lldb type: "
        "mpi diagnose)",
    )
    group.add_argument(
        "--layouts",
        type=_layouts,
        metavar="FILE",
        help="a layout profile for processes and cores, instead of the shipped ones (see: mpi-queues layouts make)",
    )
    add_timeout(group, "limit for each process, and for the whole time that ranks of a job are stopped (default: 60)")


def add_job(parser: argparse.ArgumentParser) -> None:
    """Adds what names the one job of a command: a word, or ``--job`` as in other commands."""
    parser.add_argument(
        "job",
        metavar="JOB",
        nargs="?",
        help="process id or name of the launcher (default: the only one); or slurm:JOBID, flux:JOBID, pbs:JOBID, "
        "lsf:JOBID, pals:JOBID, hosts:NODESET",
    )
    parser.add_argument("--job", dest="named", metavar="JOB", help="the same, as in other commands")


def named_job(options: argparse.Namespace) -> Optional[str]:
    """The job that is named, if one is.

    Raises:
        UsageError: where two are.
    """
    if options.job is not None and options.named is not None:
        raise UsageError("two jobs are named", help=f"type: {advice.of_job(options.job) or options.job}")
    name: Optional[str] = options.job if options.named is None else options.named
    return name


def add_engine(parser: Any) -> None:
    """Adds ``--engine``."""
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        default=ANY_ENGINE,
        help="what starts agents on other nodes: srun, flux, blaunch, ssh or ClusterShell's clush (default: the job's "
        "own)",
    )


def add_timeout(parser: Any, help_text: str) -> None:
    """Adds ``--timeout``."""
    parser.add_argument("--timeout", type=seconds(0), default=60.0, metavar="SECONDS", help=help_text)


def requested(options: argparse.Namespace) -> List[Target]:
    """The targets asked for, each once; the only job of the machine where none is.

    Raises:
        UsageError: for a program without its core file.
        UserError: for a job or a file that is not there.
    """
    resolve(options)
    for target in options.targets:
        if isinstance(target, _Program):
            raise UsageError(
                f"--exe {shown(target.path)} does not follow the core file that it belongs to",
                help=f"type: --core CORE --exe {shown(target.path)}",
            )
    jobs = _of_jobs(options)
    wanted: Dict[Tuple[str, Any], Target] = {}
    for target in options.targets:
        for one in jobs.pop(target.job, []) if isinstance(target, JobTarget) else [target]:
            # A process that is named alone, too, is read as the rank that it is.
            key = ("pid", one.pid) if isinstance(one, PidTarget) else ("other", one)
            if wanted.get(key) is None or (isinstance(one, PidTarget) and one.place is not None):
                wanted[key] = of_file(one.path) if isinstance(one, RecordingTarget) else one
    return list(wanted.values())


def resolve(options: argparse.Namespace) -> None:
    """Finds out what the words among the targets name, and the only job where there are no targets.

    Raises:
        UserError: for what is not there.
    """
    found: List[Any] = []
    for target in options.targets:
        one = target_of(target.text, options.timeout) if isinstance(target, Word) else target
        last = found[-1] if found else None
        if isinstance(one, _Program) and isinstance(last, CoreTarget) and last.exe is None:
            found[-1] = CoreTarget(last.core, one.path)
        else:
            found.append(one)
    if not found:
        job = str(only_job(options.timeout).pid)
        found, options.typed = [JobTarget(job)], [job] if hasattr(options, "named") else ["--job", job]
    options.targets = found


def _of_jobs(options: argparse.Namespace) -> Dict[str, List[Target]]:
    """The ranks of each job that is named."""
    named = [target for target in options.targets if isinstance(target, JobTarget)]
    try:
        return of_jobs([target.job for target in named], options.timeout, options.engine)
    except UserError as error:
        unsure = [target for target in named if not target.sure]
        raise not_there(unsure[0], error) if len(unsure) == 1 == len(named) else error from None


@dataclass(frozen=True)
class _Program:
    """An ``--exe`` that has no core file before it."""

    path: str


_KINDS: Dict[str, Callable[[Any], object]] = {
    "pid": PidTarget,
    "core": CoreTarget,
    "exe": _Program,
    "recording": RecordingTarget,
    "job": JobTarget,
    "named": Word,
}


class _Append(argparse.Action):
    """Keeps the options in order, because an ``--exe`` belongs to the ``--core`` before it."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Optional[str] = None) -> None:
        given = values if isinstance(values, list) else [values]
        flags = [] if self.dest == "named" else [str(option)]
        # Lists of their own: the defaults are shared.
        namespace.typed = [*namespace.typed, *flags, *map(str, given)]
        namespace.targets = [*namespace.targets, *map(_KINDS[self.dest], given)]


def _pid(text: str) -> int:
    try:
        pid = int(text)
    except ValueError:
        pid = 0
    if not 0 < pid < 1 << 31:
        raise argparse.ArgumentTypeError(f"{text}: not a process id")
    return pid


def seconds(least: float) -> Callable[[str], float]:
    """The type of an option: seconds, as many as ``least`` or more."""

    def parsed(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = 0.0
        if not (0 < value <= 86400 and value >= least):
            raise argparse.ArgumentTypeError(f"{text}: not a number of seconds between {least:g} and 86400")
        return value

    return parsed
