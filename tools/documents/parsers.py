"""The command line as a plain tree, taken from its parsers."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass, field
from typing import Iterator, List, Tuple

from mpi_queues.cli import command_line

SUMMARY = "why is my MPI job stuck?"

#: The width of a terminal for which usage lines are broken.
COLUMNS = 80


@dataclass(frozen=True)
class Argument:
    """An option, or a word that stands where it is."""

    #: As it is typed, each with its value: ``--pid PID``; of a word its name alone.
    usage: Tuple[str, ...]
    help: str


@dataclass(frozen=True)
class Group:
    """Arguments under one heading of the help."""

    title: str
    description: str
    arguments: Tuple[Argument, ...]


@dataclass(frozen=True)
class Command:
    """A command, with those below it."""

    #: ``mpi-queues layouts check``.
    name: str
    summary: str
    usage: str
    description: str
    #: The text behind the options: examples, exit statuses.
    epilog: str
    groups: Tuple[Group, ...]
    commands: Tuple[Command, ...] = field(default=())

    def all(self) -> Iterator[Command]:
        """It and all below it, in the order of the help."""
        yield self
        for command in self.commands:
            yield from command.all()


def tree() -> Command:
    """The whole command line."""
    # Usage lines are broken where the terminal ends: here always at the same place.
    os.environ["COLUMNS"] = str(COLUMNS)
    return _command(command_line.parser(), SUMMARY)


def subparsers(parser: argparse.ArgumentParser) -> Iterator[Tuple[str, str, argparse.ArgumentParser]]:
    """Name, summary and parser of each command below a parser."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for choice in action._choices_actions:
                yield choice.dest, choice.help or "", action.choices[choice.dest]


def _command(parser: argparse.ArgumentParser, summary: str) -> Command:
    return Command(
        parser.prog,
        summary,
        parser.format_usage().partition("usage: ")[2].strip(),
        (parser.description or "").strip(),
        (parser.epilog or "").strip(),
        tuple(_groups(parser)),
        tuple(_command(below, said) for _, said, below in subparsers(parser)),
    )


def _groups(parser: argparse.ArgumentParser) -> Iterator[Group]:
    for group in parser._action_groups:
        arguments = [_argument(action) for action in group._group_actions if not _is_left_out(action)]
        if arguments:
            yield Group(group.title or "", group.description or "", tuple(arguments))


def _is_left_out(action: argparse.Action) -> bool:
    """Commands stand for themselves, and all have ``--help``."""
    return isinstance(action, (argparse._SubParsersAction, argparse._HelpAction)) or action.help == argparse.SUPPRESS


def _argument(action: argparse.Action) -> Argument:
    value = action.metavar or "|".join(map(str, action.choices or ())) or action.dest.upper()
    assert isinstance(value, str)
    usage: List[str] = [f"{flag} {value}" if action.nargs != 0 else flag for flag in action.option_strings]
    return Argument(tuple(usage) or (value,), action.help or "")
