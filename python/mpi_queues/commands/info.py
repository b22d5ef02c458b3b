"""``mpi info``: what was detected, from where, and what is missing."""

from __future__ import annotations

from .._native import NativeError, Session
from ..errors import UserError, as_user_error
from ..report import facts
from ..system.output import json_text
from . import options as opt
from .base import ALL, FORMAT, SELECTED, Command, chosen_processes
from .context import Context


class InfoCommand(Command):
    """What was detected."""

    name = "info"
    summary = "Show what was detected, from where, and what is missing."
    options = (FORMAT, SELECTED, ALL)
    examples = (("mpi info", "for every process that is being debugged"),)

    def run(self, context: Context, arguments: opt.Arguments) -> None:
        found = []
        for process in chosen_processes(context, arguments):
            try:
                found.append((process.label, process.asked(Session.info)))
            except (NativeError, UserError) as error:
                found.append((process.label, {"error": str(as_user_error(error))}))
        if arguments.get(FORMAT.name) == "json":
            context.write(json_text([{"process": label, **info} for label, info in found]))
            return
        for label, info in found:
            facts.write_facts(label, info, context.write)
