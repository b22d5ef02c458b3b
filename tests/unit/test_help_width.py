"""No line of any help is wider than what people read."""

from __future__ import annotations

import argparse
from typing import Iterator, Tuple

import pytest
from mpi_queues.cli import command_line as cli
from mpi_queues.commands import all_commands
from mpi_queues.commands.context import Dialect
from mpi_queues.report.words import WIDTH, columns, fitted, in_columns


def parsers(parser: argparse.ArgumentParser) -> Iterator[Tuple[str, argparse.ArgumentParser]]:
    """A parser and those of its commands."""
    yield parser.prog, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for further in action.choices.values():
                yield from parsers(further)


ALL = dict(parsers(cli.parser()))


def too_wide(text: str) -> list[str]:
    return [line for line in text.splitlines() if columns(line) > WIDTH]


@pytest.mark.parametrize("columns_of_terminal", ["80", "100", "250"])
@pytest.mark.parametrize("command", sorted(ALL))
def test_help_of_the_command_line(command: str, columns_of_terminal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns_of_terminal)
    text = ALL[command].format_help()
    assert text.startswith(f"usage: {command}")
    assert too_wide(text) == []


def test_every_command_of_the_command_line_is_looked_at() -> None:
    assert {"mpi-queues", "mpi-queues demo", "mpi-queues diagnose", "mpi-queues show"} <= set(ALL)


def test_what_fits_stays_and_what_does_not_is_broken() -> None:
    text = "a  b\n  " + "word " * 40
    shown = fitted(text).splitlines()
    assert shown[0] == "a  b"
    assert all(line.startswith("  word") for line in shown[1:]) and too_wide("\n".join(shown)) == []
    rows = in_columns([("one", "x " * 80), ("two" * 20, "y")])
    assert too_wide("\n".join(rows)) == []
    assert in_columns([("a", "b"), ("long", "c")]) == ["  a     b", "  long  c"]


#: As the debuggers have them; the words that they put in are of about this length.
DIALECTS = [
    Dialect(process="inferior", set="set mpi", start="type: run, or: attach PID", settings="show mpi"),
    Dialect(process="target", set="mpi config", start="type: run, or: process attach -p PID", settings="mpi config"),
]


@pytest.mark.parametrize("dialect", DIALECTS, ids=["gdb", "lldb"])
def test_help_of_the_debuggers_commands(dialect: Dialect) -> None:
    for command in all_commands():
        assert too_wide(command.help_text(dialect)) == [], command.name


def test_the_list_of_the_debuggers_commands() -> None:
    class Written:
        dialect = DIALECTS[0]

        def __init__(self) -> None:
            self.text = ""

        def write(self, text: str) -> None:
            self.text += text

    written = Written()
    found = next(command for command in all_commands() if command.name == "help")
    found.run(written, type("Arguments", (), {"words": []})())  # type: ignore[arg-type]
    assert "mpi diagnose" in written.text
    assert too_wide(written.text) == []
