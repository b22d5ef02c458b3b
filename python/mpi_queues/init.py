"""``mpi-queues init``: the line that makes a debugger know the mpi commands."""

from __future__ import annotations

import argparse
import os
import pathlib
import tempfile
from typing import Any, List

from .errors import UserError

_DATA = pathlib.Path(__file__).resolve().parent / "data"

#: What each debugger loads, and how it is told to.
LOADERS = {debugger: _DATA / f"{debugger}-scripts" / "mpi_queues.py" for debugger in ("gdb", "lldb")}
_COMMANDS = {"gdb": "source", "lldb": "command script import"}


def add_command(commands: Any) -> None:
    """Adds ``init`` to the command line."""
    parser = commands.add_parser(
        "init",
        help="the line for ~/.gdbinit or ~/.lldbinit",
        description="Prints the line that makes a debugger know the mpi commands; --write adds it to the debugger's "
        "start-up file.",
        epilog="examples:\n  mpi-queues init gdb\n  mpi-queues init lldb --write",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("debugger", choices=tuple(LOADERS))
    parser.add_argument("--write", action="store_true", help="add the line to the start-up file")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """``mpi-queues init``."""
    line = line_for(options.debugger)
    if not options.write:
        print(line)
        return 0
    place = start_up_file(options.debugger)
    print(_add_line(place, line, options.debugger))
    return 0


def line_for(debugger: str) -> str:
    """The command that loads mpi-queues into ``gdb`` or ``lldb``."""
    path = str(LOADERS[debugger])
    # gdb takes the rest of the line as it is; lldb breaks it into words.
    quoted = f'"{path}"' if debugger == "lldb" and any(char.isspace() for char in path) else path
    return f"{_COMMANDS[debugger]} {quoted}"


def start_up_file(debugger: str) -> pathlib.Path:
    """The file that the debugger reads when it starts; gdb's is the one in the configuration directory if it exists."""
    home = pathlib.Path(os.environ.get("HOME") or pathlib.Path.home())
    if debugger == "lldb":
        return home / ".lldbinit"
    configuration = pathlib.Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "gdb" / "gdbinit"
    return configuration if configuration.is_file() else home / ".gdbinit"


def _add_line(place: pathlib.Path, line: str, debugger: str) -> str:
    """Adds the line, in place of one that loads another copy of mpi-queues; says what was done."""
    try:
        lines = place.read_text(encoding="utf-8").splitlines() if place.exists() else []
        if line in lines:
            return f"{place}: already loads mpi-queues"
        kept = [other for other in lines if not _is_ours(other, debugger)]
        replaced = len(kept) != len(lines)
        _replace(place, [*kept, line])
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{place}: cannot be written: {error}", help=f"add this line to it yourself: {line}") from None
    return f"{place}: {'replaced the line that loaded another copy' if replaced else 'added'}: {line}"


def _is_ours(line: str, debugger: str) -> bool:
    command = _COMMANDS[debugger]
    words = " ".join(line.split())
    return words.startswith(command + " ") and words.rstrip('" ').endswith(f"{debugger}-scripts/mpi_queues.py")


def _replace(place: pathlib.Path, lines: List[str]) -> None:
    """Writes the file whole or not at all."""
    # A link to a file that is kept elsewhere stays a link.
    target = place.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=target.parent, delete=False) as file:
        file.write("\n".join(lines) + "\n")
    new = pathlib.Path(file.name)
    try:
        new.chmod(mode)
        new.replace(target)
    except OSError:
        new.unlink(missing_ok=True)
        raise
