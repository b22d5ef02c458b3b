"""``mpi diagnose``: why is it stuck, over all processes that the debugger has."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Dict, Optional

from .._native import Diagnosis, Snapshot
from ..report import diagnosis as report
from ..system import processes
from . import options as opt
from .base import ALL, FORMAT, SELECTED, SOURCE, Command, from_processes, requested
from .context import Context
from .job_ranks import RANKS
from .look import Look

VERBOSE = opt.Option("verbose", "Also show the evidence, all calls, and how each rank moved.", short="v")

#: A process counts as read twice where it was active (as it is while it waits busily in MPI) for so many seconds in
#: between: one that was only stepped, or that the debugger did not resume, stands where it stood for that reason.
_RAN = 0.2


class DiagnoseCommand(Command):
    """The diagnosis."""

    name = "diagnose"
    summary = "Say why the job is stuck: the cause, ranks, calls, files and lines."
    description = (
        "Reads every {process} that is an MPI process. The more ranks you attach to, the more it can say; 'mpi attach' "
        "attaches to all ranks of a job. If one look leaves open whether messages are on their way, let the job run "
        "for a second or more, interrupt it, and type the command again: it compares with the last look. Nothing in "
        "the process is changed."
    )
    options = (FORMAT, VERBOSE, RANKS, SOURCE, SELECTED, ALL)
    examples = (
        ("mpi diagnose", "what is wrong, and which ranks wait for which and where"),
        ("mpi diagnose -verbose", "with the evidence"),
        ("mpi diagnose -format json", "for a program"),
    )

    def run(self, context: Context, arguments: opt.Arguments) -> None:
        found = diagnosed(context, arguments)
        if arguments.get(FORMAT.name) == "json":
            found.diagnosis.write_json(context.write, indent=2)
            context.write("\n")
            return
        report.write_diagnosis(
            found.diagnosis,
            context.write,
            report.Options(
                verbose=arguments.has(VERBOSE.name),
                more="mpi diagnose -verbose",
                queues_of=lambda rank: f"mpi queues -rank {rank}",
                others="mpi attach, then: mpi diagnose",
                again="let all ranks run for a second or more, interrupt them, and type: mpi diagnose"
                if found.active
                else "",
                since=found.since,
            ),
        )


@dataclass(frozen=True)
class Diagnosed:
    """A diagnosis of what the debugger has."""

    diagnosis: Diagnosis
    #: Whether any of its processes is live.
    active: bool
    #: When the look was that it was compared with, in words; empty where there was none.
    since: str


def diagnosed(context: Context, arguments: opt.Arguments) -> Diagnosed:
    """Reads the processes and compares them with the last look, where they ran on since."""
    request = requested(context, arguments, stacks=True, tells_of_all=True)
    snapshot = from_processes(context, arguments, request)
    active = _active(snapshot)
    look = Look(snapshot, time.monotonic(), active)
    last, context.last_look = context.last_look, look
    ran = _ran_since(last, look)
    earlier = last.snapshot.only(list(ran)) if last is not None and ran else None
    diagnosis = snapshot.diagnose(earlier, interval_ms=int(min(ran.values()) * 1000) if ran else None)
    since = f"since the last look, {report.seconds((look.at - last.at) * 1000)} ago" if last and ran else ""
    return Diagnosed(diagnosis, bool(active), since)


def _active(snapshot: Snapshot) -> Dict[int, float]:
    """For how long each live process has been active, where the kernel tells it."""
    found: Dict[int, float] = {}
    for process in snapshot.processes:
        live = (process.source or {}).get("via") in ("gdb", "lldb")
        used = processes.active_time(process.pid) if live and process.pid is not None else None
        if process.pid is not None and used is not None:
            found[process.pid] = used
    return found


def _ran_since(last: Optional[Look], look: Look) -> Dict[int, float]:
    """The processes that went on since the last look, and for how long at least, in seconds."""
    if last is None:
        return {}
    ran = {pid: used - last.active[pid] for pid, used in look.active.items() if pid in last.active}
    return {pid: seconds for pid, seconds in ran.items() if seconds >= _RAN}
