"""The debugger's answers to processes that ask for one: by the MPIR interface, by MPI2DD, or by both."""

from __future__ import annotations

from typing import Dict, List, Optional

from ..mpi2dd import control as mpi2dd
from . import mpir
from .job_control import JobControl

#: Functions that a process calls where a debugger is to look at it.
BREAKPOINTS = (mpir.BREAKPOINT, mpi2dd.BREAKPOINT)


def speaks(jobs: JobControl, pid: int) -> bool:
    """Whether a process calls any of these."""
    return any(jobs.symbol(pid, name) is not None for name in BREAKPOINTS)


def set_being_debugged(jobs: JobControl, pid: int, on: bool) -> bool:
    """Tells a launcher that a debugger has it, or has it no longer; False where it does not ask for that.

    Raises:
        UserError: where its memory cannot be written to.
    """
    told = [mpir.set_being_debugged(jobs, pid, on), mpi2dd.set_being_debugged(jobs, pid, on)]
    return any(told)


def open_gate(jobs: JobControl, pid: int) -> bool:
    """Lets a rank go on that waits for a debugger; False where it has nothing to wait for.

    Raises:
        UserError: where its memory cannot be written to.
    """
    opened = [mpir.open_gate(jobs, pid), mpi2dd.open_gate(jobs, pid)]
    return any(opened)


def started(jobs: JobControl, pid: int) -> bool:
    """Whether a launcher that stands at a breakpoint of these says that its processes are there."""
    return mpir.state(jobs, pid) == mpir.SPAWNED or mpi2dd.state(jobs, pid) == mpi2dd.START


def event(jobs: JobControl, pid: int, function: str) -> Optional[str]:
    """Why a launcher stands in one of these functions; None where that is nothing to stop for."""
    return mpi2dd.event(jobs, pid) if function == mpi2dd.BREAKPOINT else mpir.event(jobs, pid)


def flags(jobs: JobControl, pid: int) -> List[str]:
    """What a launcher says of itself, as names of MPIR's symbols.

    Raises:
        UserError: where it cannot be read.
    """
    told = mpi2dd.flags(jobs, pid)
    return [name for name in mpir.FLAGS if name in told or mpir.has(jobs, pid, name)]


def facts(jobs: JobControl, pid: int) -> Dict[str, str]:
    """What the variables of a launcher say, by name, for people.

    Raises:
        UserError: where they cannot be read.
    """
    return {**mpir.facts(jobs, pid), **mpi2dd.facts(jobs, pid)}
