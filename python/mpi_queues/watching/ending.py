"""Ends a job that is stuck: the one that was named, by what started it."""

from __future__ import annotations

import signal
import subprocess
from typing import Dict, List, Optional

from ..errors import UsageError
from ..system import commands, processes
from .bell import await_end

#: Seconds that a launcher has to end its job, and that the commands of batch systems have.
GRACE, _COMMAND_TIMEOUT = 10.0, 60.0
#: Bytes that are kept of what these say.
_MOST = 65536

#: How jobs of batch systems are ended, by how they are named (SchedMD/slurm scancel(1), flux-framework/flux-core
#: flux-cancel(1), openpbs/openpbs qdel(1B), IBM Spectrum LSF bkill).
_COMMANDS = {"slurm:": "scancel", "flux:": "flux cancel", "pbs:": "qdel", "lsf:": "bkill"}


def command(job: str) -> Optional[List[str]]:
    """What ends a job of a batch system; None for the job of a launcher of this machine.

    Raises:
        UsageError: where a job is named by nothing that can be ended.
    """
    if job.startswith("hosts:"):
        raise UsageError(
            f"{job}: a set of nodes is not a job that can be ended",
            help="leave out --end, or name the job by its launcher",
        )
    if job.startswith("pals:"):
        raise UsageError(
            f"{job}: mpi-queues does not end applications of PALS", help="leave out --end, or name its job: pbs:JOBID"
        )
    for prefix, words in _COMMANDS.items():
        if job.startswith(prefix):
            return [*words.split(), job[len(prefix) :]]
    return None


def end(launcher: Optional[int], job: str, ranks: List[int]) -> List[str]:
    """Ends the job: its ranks of this machine first, then its launcher, each told to and then killed. What went wrong,
    in sentences.

    A launcher that loses a rank ends the others and returns an error. Where Hydra's is told to end itself it often
    returns 0 (MPICH 4.0.2: 34 of 120), and a job that hung would look like a success.
    """
    words = command(job)
    if words is not None:
        return _run(words)
    if launcher is None:
        return [f"{job}: its launcher is not known, so it was not ended"]
    started: Dict[int, Optional[int]] = {pid: processes.start_time(pid) for pid in [launcher, *ranks]}
    for pids in (ranks, [launcher]):
        for number in (signal.SIGTERM, signal.SIGKILL):
            if _tell(pids, number, started) and await_end(launcher, started[launcher], GRACE):
                break
    for pid in ranks:
        if not await_end(pid, started[pid], 1.0):
            _tell([pid], signal.SIGKILL, started)
    left = [pid for pid in started if not await_end(pid, started[pid], 1.0)]
    return [f"pid {pid} of the job has not ended" for pid in left]


def _tell(pids: List[int], number: signal.Signals, started: Dict[int, Optional[int]]) -> bool:
    """Sends a signal to those that still run; whether there were any."""
    running = [pid for pid in pids if started[pid] is not None and processes.start_time(pid) == started[pid]]
    for pid in running:
        processes.send(pid, number)
        # Who is stopped hears nothing.
        processes.send(pid, signal.SIGCONT)
    return bool(running)


def _run(words: List[str]) -> List[str]:
    try:
        ended = commands.said(words, _COMMAND_TIMEOUT, _MOST)
    except (OSError, subprocess.SubprocessError) as error:
        return [f"{words[0]}: {error}"]
    reason = ended.errors.decode(errors="replace").strip()[:300] or f"it ended with status {ended.status}"
    return [f"{words[0]}: {reason}"] if ended.status else []
