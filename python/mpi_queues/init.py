"""``mpi-queues init``: the line that makes a debugger know the mpi commands."""

from __future__ import annotations

import argparse
import os
import pathlib
import tempfile
from typing import Any, List

from .errors import UsageError, UserError

LOADER = pathlib.Path(__file__).resolve().parent / "data" / "gdb-scripts" / "mpi_queues.py"


def add_command(commands: Any) -> None:
    """Adds ``init`` to the command line."""
    parser = commands.add_parser(
        "init",
        help="the line for ~/.gdbinit",
        description="Prints the line that makes gdb know the mpi commands; --write adds it to gdb's start-up file.",
        epilog="examples:\n  mpi-queues init gdb\n  mpi-queues init gdb --write",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("debugger", choices=("gdb", "lldb"))
    parser.add_argument("--write", action="store_true", help="add the line to the start-up file")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """``mpi-queues init``."""
    if options.debugger == "lldb":
        raise UsageError("lldb is not supported in this version, which works in gdb", help="type: mpi-queues init gdb")
    line = f"source {LOADER}"
    if not options.write:
        print(line)
        return 0
    place = start_up_file()
    print(_add_line(place, line))
    return 0


def start_up_file() -> pathlib.Path:
    """The file that gdb reads when it starts: the one in the configuration directory where it exists."""
    home = pathlib.Path(os.environ.get("HOME") or pathlib.Path.home())
    configuration = pathlib.Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "gdb" / "gdbinit"
    return configuration if configuration.is_file() else home / ".gdbinit"


def _add_line(place: pathlib.Path, line: str) -> str:
    """Adds the line, in place of one that loads another copy of mpi-queues; says what was done."""
    try:
        lines = place.read_text(encoding="utf-8").splitlines() if place.exists() else []
        if line in lines:
            return f"{place}: already loads mpi-queues"
        kept = [other for other in lines if not _is_ours(other)]
        replaced = len(kept) != len(lines)
        _replace(place, [*kept, line])
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{place}: cannot be written: {error}", help=f"add this line to it yourself: {line}") from None
    return f"{place}: {'replaced the line that loaded another copy' if replaced else 'added'}: {line}"


def _is_ours(line: str) -> bool:
    words = line.split(maxsplit=1)
    return (
        len(words) == 2
        and words[0] == "source"
        and words[1].rstrip().endswith(("mpi_queues/data/gdb-scripts/mpi_queues.py", "gdb-scripts/mpi_queues.py"))
    )


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
