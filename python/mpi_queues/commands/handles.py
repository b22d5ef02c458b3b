"""``mpi handles``: the objects behind the handles of a kind, or what one handle means."""

from __future__ import annotations

from typing import Sequence

from ..errors import UsageError
from ..handle_types import ALL as EVERY_KIND
from ..handle_types import KINDS, kind_of, wanted
from ..report import handles, text
from . import options as opt
from .base import ALL, FORMAT, RANK, SELECTED, SOURCE, VERBOSE, Command, from_processes, requested, write_json
from .context import Context
from .job_ranks import RANKS


class HandlesCommand(Command):
    """The handles of a kind."""

    name = "handles"
    summary = "Show the handles that exist, or what one of them means."
    description = (
        f"KIND is one of {', '.join(list(KINDS)[:6])},\n"
        f"{', '.join(list(KINDS)[6:])}, or all. VALUE is a C handle (0x…), a Fortran integer or a name; for a status, "
        "its address. mpi print shows what a variable of the program holds."
    )
    usage_words = "KIND [VALUE]..."
    max_words = 64
    options = (FORMAT, RANK, RANKS, VERBOSE, SOURCE, SELECTED, ALL)
    examples = (
        ("mpi handles request", "requests that are not complete, or complete but not waited for"),
        ("mpi handles datatype -verbose", "every datatype that can be found, with its type map"),
        ("mpi handles win 0x55d0c8a3b2c0", "what one window is"),
    )

    def words(self, context: Context) -> Sequence[str]:
        return [*KINDS, EVERY_KIND]

    def run(self, context: Context, arguments: opt.Arguments) -> None:
        rank = opt.integer(arguments, RANK.name, self.full_name)
        if not arguments.words:
            raise UsageError(f"{self.full_name}: which kind? {', '.join(KINDS)}, all", help="type: mpi handles all")
        asked = wanted(kind_of(arguments.words[0]), arguments.words[1:])
        request = requested(context, arguments, action="handles", wanted=asked)
        found = from_processes(context, arguments, request)
        snapshot = text.chosen(found, comm=None, rank=rank)
        if arguments.get(FORMAT.name) == "json":
            write_json(context, snapshot)
            return
        shown = text.Options(limit=context.setting("limit"), show_more=context.dialect.fill("{set} limit unlimited"))
        full = arguments.has(VERBOSE.name) or len(arguments.words) > 1
        handles.write_handles(snapshot, context.write, shown, full=full)
