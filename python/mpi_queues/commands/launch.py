"""``mpi launch``: starts a job by the MPIR protocol, with all its ranks in the debugger."""

from __future__ import annotations

import contextlib
import re
import shlex
import signal
import time
from typing import Callable, List, Tuple

from ..errors import UsageError, UserError
from ..launchers import job as acquisition
from ..launchers.model import Job, RankEntry
from ..system import processes
from . import gates, mpir, spawning
from . import options as opt
from .base import Command
from .context import Context
from .job_control import JobControl, Launched
from .job_ranks import (
    FAILURES,
    RANKS,
    attach_all,
    chosen,
    held_ranks,
    let_go,
    named,
    run_on,
    tell_failures,
    tell_left_out,
    write_grouped,
)

_WORD = re.compile(r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\])+""")

#: How long a launcher that says that its ranks are there may need to have all of them run their program, in seconds.
_START = 5.0


class LaunchCommand(Command):
    """A job from its start."""

    name = "launch"
    summary = "Start an MPI job under the debugger, with all its ranks, stopped."
    description = (
        "The debugger starts the launcher as it starts any program, with the arguments as you type them, and tells it "
        "that a debugger is there (MPIR). You are then in rank 0. Without a launcher, the debugger's own program is "
        "started.\n" + spawning.HELP
    )
    usage_words = "LAUNCHER [ARGUMENT]..."
    max_words = 1
    takes_expression = True
    completes = "program"
    options = (RANKS,)
    examples = (
        ("mpi launch mpirun -n 4 ./a.out", "four ranks, stopped in MPI_Init"),
        ("mpi launch -ranks 0,3 mpirun -n 4 ./a.out", "only two of them; the others run"),
    )

    def run(self, context: Context, arguments: opt.Arguments) -> None:
        program, rest = split(arguments.words[0] if arguments.words else "", self.full_name)
        already = [one for one in context.jobs.held() if one.launcher]
        if already:
            raise UserError(
                f"{self.full_name}: a job is being debugged already ({already[0].name}, pid {already[0].pid})",
                help="detach from it first: mpi detach",
                kind="several_jobs",
            )
        try:
            launched = context.jobs.launch(program, rest, context.tell)
        finally:
            context.progress("")
        try:
            job = started(launched)
            wanted = chosen(arguments.get(RANKS.name), job, self.full_name)
        except BaseException:
            # It has no ranks that could be had, or none of those that were asked for.
            processes.send(launched.pid, signal.SIGTERM)
            let_go(context, [launched.pid])
            raise
        with context.jobs.uninterrupted():
            self._have(context, launched, job, wanted)

    def _have(self, context: Context, launched: Launched, job: Job, wanted: List[RankEntry]) -> None:
        launcher = launched.pid
        # One that has filled its variables only now was not told before.
        with contextlib.suppress(*FAILURES):
            gates.set_being_debugged(context.jobs, launcher, True)
        flags = gates.flags(context.jobs, launcher)
        partial = len(wanted) < len(job.ranks)
        every = partial and launched.at_breakpoint and "MPIR_partial_attach_ok" not in flags
        failed = attach_all(context, job.ranks if every else wanted)
        for note in launched.notes:
            context.tell(note)
        tell_failures(context, failed)
        tell_left_out(context, job)
        held = held_ranks(context)
        here = [entry for entry in (job.ranks if every else wanted) if entry.pid in held]
        unopened = open_gates(context, here)
        if every:
            others = [entry for entry in here if entry not in wanted]
            let_go(context, [entry.pid for entry in others if entry.pid is not None and entry.pid != launcher])
            context.tell(
                f"The launcher does not say MPIR_partial_attach_ok: {named(others)} were attached to as well, "
                "released, and detached."
            )
        tell_failures(context, unopened)
        here = [entry for entry in here if entry in wanted]
        if not here:
            raise UserError(
                "could not attach to any rank; the launcher is held",
                help="type: mpi ranks, or mpi detach",
                kind="no_ranks",
            )
        self._tell(context, launched, job, here, flags)

    def _tell(self, context: Context, launched: Launched, job: Job, here: List[RankEntry], flags: List[str]) -> None:
        held = held_ranks(context)
        first = here[0]
        assert first.pid is not None
        where = f", {held[job.pid].label}" if job.pid in held else ""
        context.tell(f"{job.launcher} (pid {job.pid}{where}) has started {named(job.ranks)}; here are {named(here)}.")
        if "MPIR_i_am_starter" not in flags and launched.at_breakpoint:
            itself = next((entry.name for entry in here if entry.pid == launched.pid), None)
            context.tell(f"The launcher does not say MPIR_i_am_starter: it is {itself or 'a part of the job'} itself.")
        if any(name in flags for name in mpir.IGNORE_QUEUES):
            context.tell("The launcher asks debuggers to leave message queues alone (MPIR_ignore_queues).")
        if not launched.at_breakpoint:
            write_grouped(context, run_on(context, here, lambda pid: context.jobs.execute(pid, "bt 1")))
        spawning.watch(context, here)
        context.jobs.select(first.pid)
        asked = [name for name in ("MPIR_acquired_pre_main", "MPIR_force_to_main") if name in flags]
        if "MPIR_acquired_pre_main" in flags:
            self._try(context, first, "tbreak main", "The ranks were held before main")
        if asked:
            self._try(context, first, "list main", f"The launcher asks debuggers to show main ({', '.join(asked)})")
        context.tell(f"You are in {first.name} ({held[first.pid].label}).")
        context.tell(context.jobs.release_launcher(launched.pid))

    def _try(self, context: Context, entry: RankEntry, command: str, why: str) -> None:
        """A command of the debugger that the launcher asks for, which a rank without debug information cannot have."""
        assert entry.pid is not None
        try:
            printed = context.jobs.execute(entry.pid, command)
        except FAILURES as error:
            printed = f"{command}: {error}\n"
        context.write(f"{why}:\n{printed}")


def split(text: str, command: str) -> Tuple[str, str]:
    """The launcher, and its arguments as they were typed.

    Raises:
        UsageError: for a quote that is not closed.
    """
    stripped = text.strip()
    if not stripped:
        return "", ""
    match = _WORD.match(stripped)
    if match is None:
        raise UsageError(f"{command}: no closing quotation in: {stripped}", help=f"type: help {command}")
    word = shlex.split(match[0])[0]
    return word, stripped[match.end() :].strip()


def started(launched: Launched) -> Job:
    """The job of a launcher that has just started its ranks: each may need a moment more to become its program.

    Raises:
        UserError: where none of them is found.
    """
    deadline = time.monotonic() + _START
    while True:
        late = time.monotonic() > deadline
        try:
            job = acquisition.of(launched.pid)
        except UserError:
            if late:
                raise
        else:
            if late or all(entry.pid is not None for entry in job.ranks):
                return job
        time.sleep(0.02)


def open_gates(
    context: Context, entries: List[RankEntry], gate: Callable[[JobControl, int], bool] = gates.open_gate
) -> List[Tuple[RankEntry, str]]:
    """Releases the ranks that wait for MPIR_debug_gate, or for the gate of MPI2DD; those that could not be, with the
    reason. ``gate`` opens that of one."""
    failed: List[Tuple[RankEntry, str]] = []
    for entry in entries:
        assert entry.pid is not None
        try:
            gate(context.jobs, entry.pid)
        except FAILURES as error:
            failed.append((entry, f"its gate (MPIR_debug_gate, MPI2DD_FLAG_GATE) could not be opened: {error}"))
    return failed
