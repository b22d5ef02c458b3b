"""``mpi attach``: has the ranks of a job that runs."""

from __future__ import annotations

import os
import stat
from typing import Iterable, List, Sequence

from ..errors import UserError, as_user_error
from ..launchers import finding
from ..launchers import job as acquisition
from ..launchers.model import Job, RankEntry
from ..launchers.tree import ProcessTree
from ..mpi2dd import control as mpi2dd
from . import gates, mpir, spawning
from . import options as opt
from .base import COMM, Command
from .comm_members import members
from .context import Context
from .job_ranks import (
    FAILURES,
    RANKS,
    attach_all,
    chosen,
    debugged_job,
    held_ranks,
    let_go,
    named,
    tell_failures,
    tell_left_out,
)
from .launch import open_gates

MEMBERS = opt.Option(COMM.name, "Only the members of the communicator with this name.", "NAME", short="c")
LAUNCHER = opt.Option("launcher", "Also attach to the launcher, which reports MPI_Abort (MPIR).", short="l")


class AttachCommand(Command):
    """The ranks of a running job."""

    name = "attach"
    summary = "Attach to the ranks of a running job."
    description = (
        "Each rank gets one {process}. JOB is the process id of the launcher or of any process of the job, or the "
        "launcher's name. Without JOB, it is the job that is already being debugged, or the only one on this machine. "
        "Ranks that are already attached stay so.\n" + spawning.HELP
    )
    usage_words = "[JOB]"
    max_words = 1
    options = (RANKS, MEMBERS, LAUNCHER)
    examples = (
        ("mpi attach", "all ranks of the only job here"),
        ("mpi attach 4242 -ranks 0,3-5", "some ranks of the job of that process"),
        ("mpi attach -comm halo", "the members of a communicator"),
    )

    def words(self, context: Context) -> Sequence[str]:
        return [str(pid) for pid in finding.launchers(ProcessTree())]

    def run(self, context: Context, arguments: opt.Arguments) -> None:
        job = self._job(context, arguments)
        before = held_ranks(context)
        wanted = chosen(arguments.get(RANKS.name), job, self.full_name)
        with context.jobs.uninterrupted():
            self._have(context, job, arguments, wanted, before)

    def _have(
        self, context: Context, job: Job, arguments: opt.Arguments, wanted: List[RankEntry], before: Iterable[int]
    ) -> None:
        name = arguments.get(MEMBERS.name)
        if name is not None:
            wanted = self._members(context, job, wanted, name)
        failed = attach_all(context, wanted)
        held = held_ranks(context)
        if name is not None:
            kept = {*before, *(entry.pid for entry in wanted)}
            let_go(context, [pid for pid in held if pid not in kept])
        tell_failures(context, failed)
        tell_left_out(context, job)
        here = [entry for entry in wanted if entry.pid in held]
        if not here:
            raise UserError(
                f"{self.full_name}: could not attach to any rank of {job.launcher} (pid {job.pid})",
                help=f"to see them, type in a shell: mpi-queues ranks {job.pid}",
                kind="no_ranks",
            )
        # By MPI2DD a rank may wait for whatever debugger comes, by MPIR for the one that its launcher knows of.
        tell_failures(context, open_gates(context, here, mpi2dd.open_gate))
        if arguments.has(LAUNCHER.name):
            self._launcher(context, job, here)
        spawning.watch(context, here)
        self._select(context, here)
        self._tell(context, job, here)

    def _job(self, context: Context, arguments: opt.Arguments) -> Job:
        if arguments.words:
            return acquisition.find(arguments.words[0])
        if context.jobs.held():
            try:
                return debugged_job(context)
            except UserError:
                # What is debugged here belongs to no job.
                return acquisition.find(None)
        return acquisition.find(None)

    def _members(self, context: Context, job: Job, among: List[RankEntry], name: str) -> List[RankEntry]:
        before = held_ranks(context)
        try:
            return members(context, job, among, name)
        except BaseException:
            # Nothing stays of those that were only looked at.
            let_go(context, [pid for pid in held_ranks(context) if pid not in before])
            raise

    def _select(self, context: Context, here: List[RankEntry]) -> None:
        held = held_ranks(context)
        # Somebody who is in a rank stays there.
        if not any(held[entry.pid].selected for entry in here if entry.pid in held):
            assert here[0].pid is not None
            context.jobs.select(here[0].pid)

    def _tell(self, context: Context, job: Job, here: List[RankEntry]) -> None:
        held = held_ranks(context)
        mine = next((entry for entry in here if entry.pid in held and held[entry.pid].selected), here[0])
        assert mine.pid is not None
        others = len(job.ranks) - len(here)
        context.tell(
            f"{job.launcher} (pid {job.pid}): attached to {named(here)}"
            + (
                f"; {others} more of the job {'are' if others > 1 else 'is'} not asked for or out of reach"
                if others
                else ""
            )
            + f".\nYou are in {mine.name} ({held[mine.pid].label}). To let the job run on, type: mpi detach"
        )

    def _launcher(self, context: Context, job: Job, here: List[RankEntry]) -> None:
        """The launcher is asked to tell of what happens from now on (MPIR 1.1, attaching to a running job)."""
        jobs = context.jobs
        try:
            jobs.attach(job.pid, None, f"launcher {job.launcher}")
            try:
                self._ask(context, job, here)
            finally:
                context.tell(jobs.release_launcher(job.pid))
        except FAILURES as error:
            context.tell(f"launcher {job.launcher} (pid {job.pid}): {as_user_error(error)}")

    def _ask(self, context: Context, job: Job, here: List[RankEntry]) -> None:
        jobs = context.jobs
        jobs.watch_launcher(job.pid, context.tell)
        if not gates.speaks(jobs, job.pid):
            context.tell(mpir.not_watched(job.launcher))
            return
        gates.set_being_debugged(jobs, job.pid, True)
        # Ranks that are held for a debugger wait for this one now.
        tell_failures(context, open_gates(context, here))
        fifo = mpir.attach_fifo(jobs, job.pid)
        if fifo is not None:
            context.tell(told_through(fifo))


def told_through(fifo: str) -> str:
    """Writes the byte that asks the launcher to look at MPIR_being_debugged; what came of it, in a sentence."""
    try:
        # The name comes out of the launcher's memory: nothing else is opened for writing.
        if not stat.S_ISFIFO(os.stat(fifo).st_mode):
            return f"The launcher was not told of the debugger: MPIR_attach_fifo {fifo}: not a FIFO"
        # Without waiting for a reader that there may not be.
        descriptor = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        return f"The launcher was not told of the debugger: MPIR_attach_fifo {fifo}: {_reason(error)}"
    try:
        if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            return f"The launcher was not told of the debugger: MPIR_attach_fifo {fifo}: not a FIFO"
        os.write(descriptor, b"\x01")
    except OSError as error:
        return f"The launcher was not told of the debugger: MPIR_attach_fifo {fifo}: {_reason(error)}"
    finally:
        os.close(descriptor)
    return f"The launcher was told of the debugger through {fifo}."


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
