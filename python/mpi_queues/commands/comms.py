"""``mpi comms``: the communicators of each process."""

from __future__ import annotations

from ..report import text
from . import options as opt
from .base import ALL, COMM, FORMAT, RANK, SELECTED, SOURCE, Command, read_processes
from .context import Context


class CommsCommand(Command):
    """The communicators."""

    name = "comms"
    summary = "Show the communicators: name, rank, size and the world ranks of their groups."
    options = (FORMAT, COMM, RANK, SOURCE, SELECTED, ALL)
    examples = (("mpi comms", "the communicators of every process"),)

    def run(self, context: Context, arguments: opt.Arguments) -> None:
        rank = opt.integer(arguments, RANK.name, self.full_name)
        snapshot = read_processes(context, arguments, queues=False)
        shown = text.chosen(snapshot, comm=arguments.get(COMM.name), rank=rank)
        if arguments.get(FORMAT.name) == "json":
            shown.write_json(context.write, indent=2)
            context.write("\n")
            return
        text.write_communicators(shown, context.write)
