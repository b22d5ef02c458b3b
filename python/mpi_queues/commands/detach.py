"""``mpi detach``: lets go of a job, or of some of its ranks; they run on."""

from __future__ import annotations

from typing import List, Sequence

from ..errors import UserError
from . import gates
from . import options as opt
from .base import Command
from .context import Context
from .job_control import Held
from .job_ranks import FAILURES, chosen, debugged_job, having, held_ranks, let_go, named, names_of, rank_words


class DetachCommand(Command):
    """Letting go."""

    name = "detach"
    summary = "Detach from all ranks and the launcher, or from some ranks; the job runs on."
    description = "RANKS is a list: all, 0,3-5, or 1:0-2 (ranks 0 to 2 of the world that was spawned first)."
    usage_words = "[RANKS]"
    max_words = 1
    examples = (
        ("mpi detach", "the job runs on without the debugger"),
        ("mpi detach 1-3", "these run on, the others stay"),
    )

    def words(self, context: Context) -> Sequence[str]:
        return rank_words(context)

    def run(self, context: Context, arguments: opt.Arguments) -> None:
        held = held_ranks(context)
        if not arguments.words:
            mine = [one for one in held.values() if one.name or one.launcher]
            if not mine:
                raise UserError(
                    f"{self.full_name}: mpi attach and mpi launch have attached to no rank",
                    help="to detach from other processes, type: detach",
                    kind="no_job",
                )
            self._detach(context, mine)
            return
        job = debugged_job(context)
        asked = chosen(arguments.words[0], job, self.full_name)
        found = [one for one in (having(entry, held) for entry in asked) if one is not None]
        if not found:
            raise UserError(
                f"{self.full_name}: not attached to any of: {named(asked)}", help="type: mpi ranks", kind="not_attached"
            )
        self._detach(context, found)

    def _detach(self, context: Context, held: List[Held]) -> None:
        # Those that have ended first: debuggers can do little while they have them. The launcher last: its ranks may
        # need it as soon as they run.
        held = sorted(held, key=lambda one: (one.launcher, one.state != "ended"))
        for one in held:
            if one.launcher:
                try:
                    gates.set_being_debugged(context.jobs, one.pid, False)
                except FAILURES:
                    # It is running, or gone: then it does not ask any more.
                    continue
        problems = let_go(context, [one.pid for one in held])
        for problem in problems:
            context.tell(problem)
        if len(problems) < len(held):
            context.tell(f"Detached from {names_of(held)}; the job runs on.")
