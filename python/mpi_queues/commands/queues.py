"""``mpi queues``: what each process waits for, and what has arrived that nobody received."""

from __future__ import annotations

from .._native import NativeError
from ..errors import UserError, as_user_error
from ..report import text
from ..report.words import wrapped
from . import mpir, universe
from . import options as opt
from .base import (
    ALL,
    COMM,
    FORMAT,
    INTERNAL,
    RANK,
    SELECTED,
    SOURCE,
    Command,
    chosen_processes,
    from_processes,
    requested,
    write_json,
)
from .context import Context
from .job_ranks import RANKS

COMPARE = opt.Option(
    "compare", "Read with the built-in reader and with the plug-in, and show where they differ.", short="C"
)


class QueuesCommand(Command):
    """The message queues."""

    name = "queues"
    summary = "Show pending sends and receives, and unexpected messages."
    description = (
        "Receives are in the order in which MPI would match them. Ranks are those of the communicator; the rank in "
        "MPI_COMM_WORLD follows if it differs. Nothing in the process is changed."
    )
    options = (FORMAT, COMM, RANK, RANKS, INTERNAL, SOURCE, COMPARE, SELECTED, ALL)
    examples = (
        ("mpi queues", "everything that the application posted"),
        ("mpi queues -comm halo -rank 1", "one communicator of one process"),
        ("mpi queues -format json", "for a program"),
    )

    def run(self, context: Context, arguments: opt.Arguments) -> None:
        if arguments.has(COMPARE.name):
            self._compare(context, arguments)
            return
        rank = opt.integer(arguments, RANK.name, self.full_name)
        snapshot = from_processes(context, arguments, requested(context, arguments))
        internal = arguments.has(INTERNAL.name) or bool(context.setting("internal"))
        chosen = text.chosen(snapshot, comm=arguments.get(COMM.name), rank=rank)
        shown = chosen if internal else chosen.filtered(internal=False)
        if arguments.get(FORMAT.name) == "json":
            write_json(context, shown)
            return
        text.write_queues(
            shown,
            context.write,
            text.Options(
                limit=context.setting("limit"),
                hidden_internal=text.count_operations(chosen) - text.count_operations(shown),
                show_internal="mpi queues -internal",
                show_more=context.dialect.fill("{set} limit unlimited"),
                every_communicator=arguments.get(COMM.name) is not None,
            ),
        )
        asking = mpir.asking_to_ignore_queues(context.jobs)
        if asking is not None:
            context.write(wrapped(asking, "", "  "))

    def _compare(self, context: Context, arguments: opt.Arguments) -> None:
        if arguments.get(FORMAT.name) == "json":
            raise UserError(
                "mpi queues: -compare writes text only", help="type: mpi queues -compare, or compare two -format json"
            )
        request = requested(context, arguments, action="compare")
        failed = None
        processes = chosen_processes(context, arguments)
        universe.place(context, processes)
        for process in processes:
            try:
                differences = process.ask(request)
            except (NativeError, UserError) as error:
                failed = as_user_error(error)
                if failed.kind != "not_mpi":
                    context.write(f"{process.label}: cannot compare: {failed}\n")
                continue
            text.write_differences(process.label, differences, context.write)
            failed = None
        if failed is not None and failed.kind == "not_mpi":
            raise failed
