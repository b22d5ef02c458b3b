"""Pages of the manual (``man mpi-queues``), one for each command, as troff (man(7))."""

from __future__ import annotations

import datetime
import os
import re
from pathlib import Path
from typing import Iterator, List, Sequence

from mpi_queues import __version__

from .parsers import Argument, Command, tree

SECTION = "1"


def file_name(command: Command) -> str:
    """The file of its page, which ``man`` finds by the command's words with hyphens between them."""
    return f"{command.name.replace(' ', '-')}.{SECTION}"


def page(command: Command, whole: Command) -> str:
    """The page of one command."""
    lines = [
        f'.TH {_quoted(command.name.replace(" ", "-").upper())} {SECTION} "{_date()}" "mpi-queues {__version__}" '
        '"MPI queues"',
        ".SH NAME",
        f"{_text(command.name.replace(' ', '-'))} \\- {_text(_in_a_line(command.summary))}",
        ".SH SYNOPSIS",
        *_verbatim([command.usage]),
        ".SH DESCRIPTION",
        _text(command.description),
    ]
    for group in command.groups:
        lines.append(f".SH {_quoted(group.title.upper())}")
        if group.description:
            lines.append(_text(group.description))
        for argument in group.arguments:
            lines += _argument(argument)
    if command.commands:
        lines.append(".SH COMMANDS")
        for below in command.commands:
            lines += [".TP", f".BR {_quoted(file_name(below)[:-2])} ({SECTION})", _text(_in_a_line(below.summary))]
    lines += _epilog(command.epilog)
    lines += [".SH SEE ALSO", _see_also(command, whole)]
    return "\n".join(lines) + "\n"


def write(directory: Path) -> List[Path]:
    """Writes the pages of all commands into a directory, and returns them."""
    directory.mkdir(parents=True, exist_ok=True)
    whole = tree()
    written = []
    for command in whole.all():
        path = directory / file_name(command)
        path.write_text(page(command, whole), encoding="utf-8")
        written.append(path)
    return written


def _argument(argument: Argument) -> Iterator[str]:
    yield ".TP"
    yield ", ".join(f"\\fB{_plain(one)}\\fR" for one in argument.usage)
    yield _text(argument.help) if argument.help else ""


def _epilog(text: str) -> Iterator[str]:
    """A line that ends with a colon before indented ones is a heading; other lines are text."""
    lines = text.splitlines()
    while lines:
        line = lines.pop(0)
        indented = []
        while lines and (lines[0].startswith("  ") or not lines[0].strip()):
            indented.append(lines.pop(0))
        if line.endswith(":") and any(one.strip() for one in indented):
            yield f".SH {_quoted(line[:-1].upper())}"
            yield from _verbatim([one[2:] for one in indented if one.strip()])
        elif line.strip():
            yield ".PP"
            yield _text(line)
            yield from _verbatim([one[2:] for one in indented if one.strip()])


def _see_also(command: Command, whole: Command) -> str:
    near = [file_name(other)[:-2] for other in whole.all() if other.name != command.name and _is_near(command, other)]
    return ", ".join(f"\\fB{_plain(name)}\\fR({SECTION})" for name in [*near, "gdb", "lldb"])


def _is_near(command: Command, other: Command) -> bool:
    """Its parent, and what is beside it."""
    return other.name.split()[:-1] == command.name.split()[:-1] or command.name.split()[:-1] == other.name.split()


def _verbatim(lines: Sequence[str]) -> List[str]:
    return [".nf", *(_text(line) for line in "\n".join(lines).splitlines()), ".fi"] if any(lines) else []


def _in_a_line(text: str) -> str:
    return " ".join(text.split())


def _plain(text: str) -> str:
    return text.replace("\\", "\\e").replace("-", "\\-")


def _text(text: str) -> str:
    """Text of which no line is taken for a request."""
    return re.sub(r"^([.'])", r"\\&\1", _plain(text), flags=re.MULTILINE)


def _quoted(text: str) -> str:
    return '"' + _plain(text).replace('"', '""') + '"'


def _date() -> str:
    """That of the sources where a build is to be repeatable (SOURCE_DATE_EPOCH), else today's."""
    told = os.environ.get("SOURCE_DATE_EPOCH", "")
    day = (
        datetime.datetime.fromtimestamp(int(told), datetime.timezone.utc)
        if told.isdecimal()
        else datetime.datetime.now(datetime.timezone.utc)
    )
    return day.strftime("%Y-%m-%d")
