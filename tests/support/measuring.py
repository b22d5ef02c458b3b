"""Runs the programs from which the table of what can be known is made."""

from __future__ import annotations

from typing import Any, Dict, List, Tuple

from .builds import MpiBuild
from .cli import show
from .jobs import Job
from .measured import Measured

#: Between them every kind of operation, communicator and mode of sending.
PROGRAMS: Tuple[Tuple[str, int, Tuple[str, ...]], ...] = (
    ("truth_modes", 2, ()),
    ("truth_comms", 3, ()),
    ("truth_persistent", 2, ()),
    ("truth_random", 2, ("20261121", "300")),
    # Nobody sends: a queue may be known only where it is empty.
    ("truth_collective", 3, ("barrier",)),
    # Sends are done, and none waits.
    ("truth_tvtest", 2, ("posted",)),
)
#: Over libfabric, whose providers have the sends: standard ones that wait, too; and synchronous ones alone.
OVER_LIBFABRIC: Tuple[Tuple[str, int, Tuple[str, ...]], ...] = (
    ("truth_waiting", 3, ("10", "1048576")),
    ("truth_threads", 2, ()),
    ("truth_random", 3, ("1", "200")),
)


def programs_for(build: MpiBuild) -> List[Tuple[str, int, Tuple[str, ...]]]:
    """The programs that a build is measured by."""
    over_libfabric = build.transport is not None and build.transport.name.startswith("ofi-")
    return [*PROGRAMS, *(OVER_LIBFABRIC if over_libfabric else [])]


def measure(build: MpiBuild) -> Dict[str, Any]:
    """An entry of the table."""
    measured = Measured()
    device = ""
    for program, ranks, arguments in programs_for(build):
        with Job(build, program, *arguments, ranks=ranks) as job:
            shown = show(job.pids)
            for rank, truth in job.truth.items():
                process = shown[job.pids[rank]]
                measured.see_process(truth, process)
                device = process["mpi"]["transport"] or ""
    return {"mpi": build.implementation, "version": build.version, "device": device, "facts": measured.levels()}
