"""``mpi-queues init``: the line that makes a debugger know the mpi commands, or take our library; where the program for
nodes is."""

from __future__ import annotations

import argparse
import errno
import os
import pathlib
import shlex
from typing import Any, List

from ..errors import UsageError, UserError
from ..system import agent, files, mqs_library
from ..system.paths import shown
from ..system.written import new_file

_DATA = pathlib.Path(__file__).resolve().parents[1] / "data"

#: What each debugger loads, and how it is told to.
LOADERS = {debugger: _DATA / f"{debugger}-scripts" / "mpi_queues.py" for debugger in ("gdb", "lldb")}
#: A larger file is nobody's start-up file (bytes).
_MAX_START_UP = 16 << 20
_COMMANDS = {"gdb": "source", "lldb": "command script import"}
#: What makes other debuggers take our library as that of the MPI; docs/other-debuggers.md says where each is from.
_OTHERS = {
    "ddt": "export ALLINEA_QUEUE_DLL={path}",
    "padb": "export PADB_MPI_DLL={path}",
    "totalview": "export LD_PRELOAD={path}",
}


def add_command(commands: Any) -> None:
    """Adds ``init`` to the command line."""
    parser = commands.add_parser(
        "init",
        help="the line for ~/.gdbinit or ~/.lldbinit; other debuggers; the program for nodes without Python",
        description="Prints the line that loads the mpi commands into a debugger; --write adds it to the debugger's "
        "start-up file. With ddt, padb or totalview, prints the shell command that makes it show message queues by "
        "our library. With agent, prints the path of mpi-queues-agent, a static program that reads the "
        "ranks of a node without Python or a debugger.",
        epilog="examples:\n  mpi-queues init gdb\n  mpi-queues init lldb --write\n"
        "  mpi-queues init ddt >> ~/.bashrc\n"
        "  scp $(mpi-queues init agent) node7:",
    )
    parser.add_argument("debugger", choices=(*LOADERS, *_OTHERS, "agent"), metavar="gdb|lldb|ddt|padb|totalview|agent")
    parser.add_argument("--write", action="store_true", help="add the line to the start-up file")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """``mpi-queues init``."""
    if options.debugger == "agent":
        if options.write:
            raise UsageError("--write: mpi-queues-agent has no start-up file", help="type: mpi-queues init agent")
        print(agent.path())
        return 0
    if options.debugger in _OTHERS:
        if options.write:
            raise UsageError(
                f"--write: {options.debugger} has no start-up file for this",
                help=f"type: mpi-queues init {options.debugger}",
            )
        print(_OTHERS[options.debugger].format(path=shlex.quote(str(mqs_library.path()))))
        return 0
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
        lines = _lines_of(place)
        if line in lines:
            return f"{shown(str(place))}: already loads mpi-queues"
        kept = [other for other in lines if not _is_ours(other, debugger)]
        replaced = len(kept) != len(lines)
        _replace(place, [*kept, line])
    except UserError as error:
        raise UserError(str(error.args[0]), help=f"add this line to it yourself: {line}", kind=error.kind) from None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UserError(
            f"{shown(str(place))}: cannot be written: {reason}", help=f"add this line to it yourself: {line}"
        ) from None
    return f"{shown(str(place))}: {'replaced the line that loaded another copy' if replaced else 'added'}: {line}"


def _lines_of(place: pathlib.Path) -> List[str]:
    """What is in it so far; nothing where there is no such file.

    Raises:
        OSError: where it cannot be read, or is no start-up file.
        UnicodeDecodeError: where it is no text.
    """
    try:
        with files.opened(place) as file:
            content = file.read(_MAX_START_UP + 1)
    except FileNotFoundError:
        return []
    if len(content) > _MAX_START_UP:
        raise OSError(errno.EFBIG, f"it has more than {_MAX_START_UP >> 20} MiB")
    return content.decode().splitlines()


def _is_ours(line: str, debugger: str) -> bool:
    command = _COMMANDS[debugger]
    words = " ".join(line.split())
    return words.startswith(command + " ") and words.rstrip('" ').endswith(f"{debugger}-scripts/mpi_queues.py")


def _replace(place: pathlib.Path, lines: List[str]) -> None:
    """Writes the file whole or not at all; a link to a file that is kept elsewhere stays a link."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with new_file(place, "the start-up file") as file:
        file.write(("\n".join(lines) + "\n").encode())
