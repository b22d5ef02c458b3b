"""TARGET on the command line: which processes are meant, and how they are read."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from typing import Any, List, Optional, Union

from .errors import UsageError


@dataclass(frozen=True)
class PidTarget:
    """A live process of this machine."""

    pid: int

    @property
    def label(self) -> str:
        """How messages name it."""
        return f"pid {self.pid}"


@dataclass(frozen=True)
class CoreTarget:
    """A core file, and the program that dumped it where the user named it."""

    core: str
    exe: Optional[str] = None

    @property
    def label(self) -> str:
        """How messages name it."""
        return self.core


@dataclass(frozen=True)
class RecordingTarget:
    """All processes of a recording."""

    path: str

    @property
    def label(self) -> str:
        """How messages name it."""
        return self.path


Target = Union[PidTarget, CoreTarget, RecordingTarget]


def _layouts(text: str) -> str:
    path = os.path.abspath(text)
    if not os.path.isfile(path):
        raise argparse.ArgumentTypeError(f"{text}: no such file")
    return path


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options that name targets; they go to ``options.targets``, in the order in which they were given."""
    group = parser.add_argument_group("target", "what is read; each may be repeated, and mixed with the others")
    parser.set_defaults(targets=[])
    group.add_argument("--pid", type=_pid, action=_Append, metavar="PID", help="a live process")
    group.add_argument("--core", action=_Append, metavar="CORE", help="a core file")
    group.add_argument(
        "--exe",
        action=_Append,
        metavar="EXE",
        help="the program of the core file before it (default: as the core says)",
    )
    group.add_argument("--recording", action=_Append, metavar="FILE", help="what mpi-queues record wrote")
    group.add_argument("--job", metavar="PID", help="not in this version")
    group.add_argument(
        "--via",
        choices=("gdb", "lldb", "native"),
        default="gdb",
        help="the debugger that reads processes and cores (gdb)",
    )
    group.add_argument(
        "--layouts",
        type=_layouts,
        metavar="FILE",
        help="a layout profile for processes and cores, instead of the shipped ones (see: mpi-queues layouts make)",
    )
    group.add_argument(
        "--timeout", type=_seconds, default=60.0, metavar="SECONDS", help="limit for each process (default: 60)"
    )


def requested(options: argparse.Namespace) -> List[Target]:
    """The targets asked for, each once.

    Raises:
        UsageError: where there is none, or for one that this version does not read.
    """
    if options.job is not None:
        raise UsageError(
            "--job is not in this version, which reads the processes that are named",
            help=f"name the ranks one by one: mpi-queues show $(pgrep -P {options.job} | sed s/^/--pid=/)",
        )
    if options.via == "native":
        raise UsageError(
            "--via native is not in this version, which reads through a debugger", help="type: --via gdb, or --via lldb"
        )
    for target in options.targets:
        if isinstance(target, _Program):
            raise UsageError(
                f"--exe {target.path} does not follow the core file that it belongs to",
                help=f"type: --core CORE --exe {target.path}",
            )
    if not options.targets:
        raise UsageError("no target is named", help="name some: --pid PID, --core CORE --exe EXE, --recording FILE")
    return list(dict.fromkeys(options.targets))


@dataclass(frozen=True)
class _Program:
    """An ``--exe`` that has no core file before it."""

    path: str


class _Append(argparse.Action):
    """Keeps the options in order, because an ``--exe`` belongs to the ``--core`` before it."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Optional[str] = None) -> None:
        # A list of its own: the default is shared.
        targets = list(namespace.targets)
        if self.dest == "exe":
            last = targets[-1] if targets else None
            if isinstance(last, CoreTarget) and last.exe is None:
                targets[-1] = CoreTarget(last.core, values)
            else:
                targets.append(_Program(values))
        else:
            kinds = {"pid": PidTarget, "core": CoreTarget, "recording": RecordingTarget}
            targets.append(kinds[self.dest](values))
        namespace.targets = targets


def _pid(text: str) -> int:
    try:
        pid = int(text)
    except ValueError:
        pid = 0
    if not 0 < pid < 1 << 31:
        raise argparse.ArgumentTypeError(f"{text}: not a process id")
    return pid


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86400:
        raise argparse.ArgumentTypeError(f"{text}: not a number of seconds between 0 and 86400")
    return seconds
