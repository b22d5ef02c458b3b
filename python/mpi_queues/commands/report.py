"""``mpi report``: why it is stuck, as one file to look at, over all processes that the debugger has."""

from __future__ import annotations

from ..errors import UsageError
from ..page import writing
from ..report.words import size
from . import options as opt
from .base import ALL, SELECTED, SOURCE, Command
from .context import Context
from .diagnose import diagnosed
from .job_ranks import RANKS
from .plugins import absolute

NO_SOURCE = opt.Option("no-source", "Do not quote the program's source.", short="n")


class ReportCommand(Command):
    """A report."""

    name = "report"
    summary = "Write why the job is stuck into one HTML file, to look at and to keep."
    description = (
        "Reads every {process} that is an MPI process, as 'mpi diagnose' does, and writes the cause, the graph of "
        "which ranks wait for which, stacks and messages into one file, which needs no network. A name that ends in "
        ".svg or .dot gives the graph alone. To read the file in a shell, type:\n"
        "mpi-queues diagnose --recording FILE.html"
    )
    usage_words = "FILE"
    max_words = 1
    options = (NO_SOURCE, RANKS, SOURCE, SELECTED, ALL)
    examples = (
        ("mpi report hang.html", "all of it, for a browser"),
        ("mpi report hang.svg", "the graph of which ranks wait for which, as a picture"),
    )

    def run(self, context: Context, arguments: opt.Arguments) -> None:
        if not arguments.words:
            raise UsageError(f"{self.full_name}: needs the name of a file", help=f"type: help {self.full_name}")
        path = absolute(arguments.words[0])
        # Before anything is read: another end of the name is a slip of the hand.
        writing.ending_of(path)
        found = diagnosed(context, arguments)
        count = writing.write(found.diagnosis, path, source=not arguments.has(NO_SOURCE.name))
        context.write(f"wrote {path} ({size(count)})\n")
