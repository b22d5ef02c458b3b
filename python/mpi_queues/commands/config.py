"""``mpi config``: the settings, in debuggers that have no settings of their own for commands."""

from __future__ import annotations

from typing import Sequence

from ..errors import UsageError
from . import options as opt
from .base import Command
from .context import Context, Dialect
from .settings import BY_NAME, SETTINGS, Values


class ConfigCommand(Command):
    """The settings."""

    name = "config"
    summary = "Show the settings of the mpi commands, or change one."
    usage_words = "[NAME [VALUE]]"
    max_words = 2
    examples = (
        ("mpi config", "all settings"),
        ("mpi config limit unlimited", "every operation of a queue"),
        ('mpi config plugin-path ""', "remove the plug-in path"),
    )

    def __init__(self, settings: Values) -> None:
        self._settings = settings

    def words(self, context: Context) -> Sequence[str]:
        return list(BY_NAME)

    def details(self, dialect: Dialect) -> str:
        parts = []
        for setting in SETTINGS:
            parts.append(f"{setting.name}: {setting.what}\n" + dialect.fill(setting.details))
        return "\n\n".join(parts)

    def run(self, context: Context, arguments: opt.Arguments) -> None:
        if not arguments.words:
            for setting in SETTINGS:
                context.write(f"{setting.name}:  {setting.tell(self._settings.get(setting.name))}\n")
            return
        name = arguments.words[0]
        chosen = BY_NAME.get(name)
        if chosen is None:
            raise UsageError(
                f"mpi config: there is no setting {name!r}; the settings are {', '.join(BY_NAME)}",
                help="type: mpi config",
            )
        if len(arguments.words) == 1:
            context.write(chosen.tell(self._settings.get(name)) + "\n")
            return
        value = arguments.words[1]
        try:
            self._settings.change(name, value)
        except ValueError as error:
            raise UsageError(
                f"mpi config {name} {value}: {error}; nothing was changed",
                help=f"type, for example: mpi config {name} {chosen.example}",
            ) from None
