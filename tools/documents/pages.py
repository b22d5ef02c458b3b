"""Pages of the site that are made of the sources: the commands of the command line and of the debuggers."""

from __future__ import annotations

import re
from typing import Iterator, List, Sequence, Tuple

from mpi_queues.commands import Command as DebuggerCommand
from mpi_queues.commands import all_commands
from mpi_queues.commands.context import Dialect
from mpi_queues.commands.settings import BY_NAME, Setting

from .parsers import Command, Group, tree

#: gdb's own words can only be loaded inside gdb; the help there has them.
_GDB = Dialect(process="inferior", set="set mpi", start="type: run, or: attach PID", settings="show mpi")


def escaped(text: str) -> str:
    """Text in which Markdown finds nothing."""
    return re.sub(r"([\\`*_<>\[\]|#])", r"\\\1", text)


def command_line() -> str:
    """The page of the command line's commands."""
    lines = [
        "# Commands",
        "",
        "Made from the program's own help: `mpi-queues COMMAND --help` and `man mpi-queues-COMMAND` say the same.",
        "[The command line](command-line.md) has what they have in common: targets, ranks, exit statuses.",
    ]
    for command in tree().all():
        lines += _command(command)
    return "\n".join(lines) + "\n"


def debuggers() -> str:
    """The page of the debuggers' commands."""
    lines = [
        "# Commands in gdb and lldb",
        "",
        "Made from the commands' own help: `mpi help COMMAND`. The words here are those of gdb. In lldb a process is a",
        "*target*, options have one letter too (`-v`), and settings are typed `mpi config NAME VALUE`. How to begin:",
        "[gdb](gdb.md), [lldb](lldb.md).",
    ]
    for command in all_commands():
        lines += _debugger_command(command)
    lines += ["", "## Settings", "", "`set mpi NAME VALUE` in gdb, `mpi config NAME VALUE` in lldb."]
    for setting in BY_NAME.values():
        lines += _setting(setting)
    return "\n".join(lines) + "\n"


def _command(command: Command) -> Iterator[str]:
    level = "##" if command.name.count(" ") < 2 else "###"
    yield from ("", f"{level} {command.name}", "", escaped(command.description), "", "```text", command.usage, "```")
    for group in command.groups:
        yield from _group(group)
    yield from _epilog(command.epilog)


def _group(group: Group) -> Iterator[str]:
    description = f": {escaped(group.description)}" if group.description else ""
    yield from ("", f"**{escaped(group.title.capitalize())}**{description}", "")
    yield from _rows([(argument.usage, argument.help) for argument in group.arguments])


def _rows(rows: Sequence[Tuple[Sequence[str], str]]) -> Iterator[str]:
    for usage, said in rows:
        words = ", ".join(f"`{one}`" for one in usage)
        yield f"- {words}" + (f": {escaped(' '.join(said.split()))}" if said else "")


def _epilog(text: str) -> Iterator[str]:
    """Lines that are indented are examples; the others are text."""
    code: List[str] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("  "):
            code.append(line[2:])
            continue
        if code:
            yield from ("", "```sh", *code, "```", "")
            code = []
        if line and line.rstrip(":") not in ("example", "examples"):
            yield escaped(line)


def _debugger_command(command: DebuggerCommand) -> Iterator[str]:
    yield from ("", f"## {command.full_name}", "", escaped(command.summary))
    details = command.details(_GDB)
    if details:
        yield from ("", *(escaped(line) for line in details.splitlines()))
    yield from ("", "```text", command.usage, "```", "")
    yield from _rows([((option.usage,), _GDB.fill(option.help)) for option in command.options])
    yield from ("", "Examples:", "")
    yield from _rows([((typed,), does) for typed, does in command.examples])


def _setting(setting: Setting) -> Iterator[str]:
    yield from ("", f"### {setting.name}", "", f"{escaped(setting.what[:1].upper() + setting.what[1:])}")
    yield from ("", escaped(_GDB.fill(setting.details)), "", f"For example `set mpi {setting.name} {setting.example}`.")
