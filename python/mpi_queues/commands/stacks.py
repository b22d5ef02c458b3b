"""``mpi stacks``: the stacks of all processes that the debugger has, merged into one tree."""

from __future__ import annotations

from ..report import stacks as report
from ..report import text
from . import options as opt
from .base import ALL, FORMAT, RANK, SELECTED, Command, from_processes, requested
from .context import Context
from .job_ranks import RANKS

THREADS = opt.Option("threads", "Also show other threads, except those of the MPI library and its helpers.", short="t")
INTERNAL = opt.Option("internal", "Show all frames, and with -threads all threads.", short="i")


class StacksCommand(Command):
    """Merged stacks."""

    name = "stacks"
    summary = "Show where all ranks are: their stacks as one tree."
    description = (
        "Merges the stacks of every {process}, outermost frame first. Each branch says which ranks are in it and which "
        "are not. Frames inside MPI, in libraries that wrap it, in interpreters and before main are left out."
    )
    options = (FORMAT, THREADS, RANK, RANKS, INTERNAL, SELECTED, ALL)
    examples = (
        ("mpi stacks", "where each rank is"),
        ("mpi stacks -threads", "all threads"),
        ("mpi stacks -rank 3 -internal", "all frames of one rank"),
    )

    def run(self, context: Context, arguments: opt.Arguments) -> None:
        rank = opt.integer(arguments, RANK.name, self.full_name)
        request = requested(context, arguments, action="stacks")
        snapshot = from_processes(context, arguments, request)
        snapshot = text.chosen(snapshot, comm=None, rank=rank)
        tree = snapshot.stacks(threads=arguments.has(THREADS.name), internal=arguments.has(INTERNAL.name), rank=rank)
        if arguments.get(FORMAT.name) == "json":
            tree.write_json(context.write, indent=2)
            context.write("\n")
        else:
            report.write_stacks(tree, context.write, report.Options(all_of_it="all of it: mpi stacks -format json"))
