"""``mpi help``: the commands, or one of them."""

from __future__ import annotations

from typing import Sequence

from ..errors import UsageError
from ..report.words import in_columns
from . import options as opt
from .base import Command
from .context import Context


class HelpCommand(Command):
    """The help."""

    name = "help"
    summary = "List the mpi commands, or show the help of one."
    usage_words = "[COMMAND]"
    max_words = 1
    examples = (("mpi help queues", "the same as: help mpi queues"),)

    def __init__(self, commands: Sequence[Command]) -> None:
        self._commands = [*commands, self]

    def words(self, context: Context) -> Sequence[str]:
        return [command.name for command in self._commands]

    def run(self, context: Context, arguments: opt.Arguments) -> None:
        if arguments.words:
            name = arguments.words[0]
            for command in self._commands:
                if command.name == name:
                    context.write(command.help_text(context.dialect) + "\n")
                    return
            raise UsageError(f"mpi help: there is no command {name!r}", help="type: mpi help")
        rows = [(command.full_name, command.summary) for command in self._commands]
        context.write("\n".join(in_columns(rows, "")) + "\n")
        context.write(f"\nSettings: type '{context.dialect.settings}'. One command in full: 'mpi help COMMAND'.\n")
