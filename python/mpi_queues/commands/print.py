"""``mpi print``: all that is known of a handle that an expression names."""

from __future__ import annotations

from typing import Sequence

from ..errors import UsageError
from ..handle_types import KINDS, HandleDict
from ..report.handles import write_handle
from ..request import Request
from ..system.output import json_text
from . import options as opt
from .base import FORMAT, SOURCE, Command, requested
from .context import Context, HandleValue

KIND = opt.Option(
    "kind",
    "The kind of an expression that is a Fortran integer or a plain address.",
    "KIND",
    tuple(KINDS),
    short="k",
)
TEXT_OR_JSON = opt.Option(FORMAT.name, "Text for people or JSON.", FORMAT.value, FORMAT.choices, short=FORMAT.short)


class PrintCommand(Command):
    """The full form of what the printers show in a line."""

    name = "print"
    summary = "Show all that is known about an MPI handle: a variable or expression."
    description = (
        "Its type says which kind it is: MPI_Comm, MPI_Request, type(MPI_Comm), MPI::Comm, ... A Fortran INTEGER needs "
        "-kind. For an array, every element is shown, in JSON as a list. Nothing in the process is called or changed."
    )
    options = (KIND, TEXT_OR_JSON, SOURCE)
    usage_words = "EXPRESSION"
    takes_expression = True
    examples = (
        ("mpi print requests[3]", "what it waits for, its buffer, its communicator"),
        ("mpi print -kind comm icomm", "a Fortran INTEGER that is a communicator"),
        ("mpi print -format json halo.comm", "for a program"),
    )

    def run(self, context: Context, arguments: opt.Arguments) -> None:
        if not arguments.words:
            context.write(self.help_text(context.dialect) + "\n")
            return
        (expression,) = arguments.words
        if expression.startswith("/"):
            raise UsageError(
                f"{self.full_name}: takes no format such as {expression.split()[0]}", help=f"type: print{expression}"
            )
        found = context.evaluate(expression, arguments.get(KIND.name))
        request = requested(context, arguments)
        array = len(found) != 1 or found[0].expression != expression
        if arguments.get(FORMAT.name) == "json":
            described = [_describe(one, request) for one in found]
            context.write(json_text(described if array else described[0]))
            return
        if array:
            _write_elements(context, found, request)
        else:
            write_handle(_describe(found[0], request), context.write, title=expression)


def _describe(value: HandleValue, request: Request) -> HandleDict:
    return value.process.describe(value.kind, value.value, fortran=value.fortran, full=True, request=request)


def _write_elements(context: Context, found: Sequence[HandleValue], request: Request) -> None:
    limit = context.setting("limit")
    shown = found if limit is None else found[:limit]
    for one in shown:
        write_handle(_describe(one, request), context.write, title=one.expression)
    if not found:
        context.write("no elements\n")
    if len(shown) < len(found):
        context.write(
            f"… and {len(found) - len(shown):,} more (to see them: {context.dialect.fill('{set}')} limit unlimited)\n"
        )
