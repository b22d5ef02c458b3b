"""``mpi foreach``: a command of the debugger in each of several ranks."""

from __future__ import annotations

from typing import Sequence

from ..errors import UsageError, UserError
from . import options as opt
from .base import Command
from .context import Context
from .job_ranks import chosen, debugged_job, having, held_ranks, named, rank_words, run_on, write_grouped


class ForeachCommand(Command):
    """One command for many ranks."""

    name = "foreach"
    summary = "Run a debugger command in several ranks, and show equal output once."
    description = (
        "The command runs in the main thread of each rank. RANKS is a list: all, 0,3-5, or 1:0-2 (ranks 0 to 2 of the "
        "world that was spawned first). If it fails in a rank, that is reported, and the other ranks go on. You stay "
        "in the rank you are in."
    )
    usage_words = "RANKS COMMAND"
    max_words = 1
    takes_expression = True
    completes = "command"
    examples = (
        ("mpi foreach all bt 3", "where every rank is"),
        ("mpi foreach 0,3-5 print step", "a variable of some ranks"),
    )

    def words(self, context: Context) -> Sequence[str]:
        return rank_words(context)

    def run(self, context: Context, arguments: opt.Arguments) -> None:
        ranks, _, command = (arguments.words[0] if arguments.words else "").partition(" ")
        command = command.strip()
        if not ranks or not command:
            raise UsageError(
                f"{self.full_name}: needs ranks and a command",
                help=f"type: {self.full_name} all bt 3, or: help {self.full_name}",
            )
        job = debugged_job(context)
        held = held_ranks(context)
        asked = chosen(ranks, job, self.full_name)
        entries = [entry for entry in asked if having(entry, held) is not None]
        if not entries:
            raise UserError(
                f"{self.full_name}: not attached to any of: {named(asked)}",
                help="type: mpi attach",
                kind="not_attached",
            )
        write_grouped(context, run_on(context, entries, lambda pid: context.jobs.execute(pid, command)))
        missing = [entry for entry in asked if entry not in entries]
        if missing:
            context.tell(f"Left out, because not attached to: {named(missing)}")
