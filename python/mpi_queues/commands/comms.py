"""``mpi comms``: the communicators of each process."""

from __future__ import annotations

from typing import Optional

from ..errors import UserError
from ..report import handles, text
from ..request import Request
from . import options as opt
from .base import (
    ALL,
    COMM,
    FORMAT,
    RANK,
    SELECTED,
    SOURCE,
    VERBOSE,
    Command,
    from_processes,
    requested,
    write_json,
)
from .context import Context
from .job_ranks import RANKS


class CommsCommand(Command):
    """The communicators."""

    name = "comms"
    summary = "Show communicators: name, rank, size, world ranks of their groups."
    description = "-verbose adds topologies, attributes, error handlers, hints, and what uses each communicator."
    options = (FORMAT, COMM, RANK, RANKS, VERBOSE, SOURCE, SELECTED, ALL)
    examples = (
        ("mpi comms", "the communicators of every process"),
        ("mpi comms -v -comm grid", "everything about one, with its topology"),
    )

    def run(self, context: Context, arguments: opt.Arguments) -> None:
        rank = opt.integer(arguments, RANK.name, self.full_name)
        if arguments.has(VERBOSE.name):
            self._explain(context, arguments, rank)
            return
        snapshot = from_processes(context, arguments, requested(context, arguments, queues=False))
        shown = text.chosen(snapshot, comm=arguments.get(COMM.name), rank=rank)
        if arguments.get(FORMAT.name) == "json":
            write_json(context, shown)
            return
        text.write_communicators(shown, context.write)

    def _explain(self, context: Context, arguments: opt.Arguments, rank: Optional[int]) -> None:
        if requested(context, arguments).source == "plugin":
            raise UserError(
                "mpi comms: a message-queue plug-in knows names and groups only, so -verbose has nothing to add",
                help="type: mpi comms -verbose -source builtin",
            )
        request = Request("handles", wanted=(("comm", arguments.get(COMM.name)),))
        snapshot = text.chosen(from_processes(context, arguments, request), comm=None, rank=rank)
        if arguments.get(FORMAT.name) == "json":
            write_json(context, snapshot)
            return
        handles.write_handles(snapshot, context.write, full=True)
