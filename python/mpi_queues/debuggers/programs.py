"""What a debugger has to start so that a launcher runs: launchers may be scripts, which debuggers do not start."""

from __future__ import annotations

import os
import shutil
from typing import List, Tuple

from ..errors import UserError
from ..system import files
from ..system.paths import shown

#: A script may be run by a script; the kernel follows four (Linux, fs/exec.c, exec_binprm).
_MAX_SCRIPTS = 4
#: The kernel reads no more of the first line (include/uapi/linux/binfmts.h, BINPRM_BUF_SIZE).
_MAX_LINE = 256


def runnable(program: str, path: str) -> Tuple[str, List[str]]:
    """The binary that runs a program, and the arguments that come before the program's own.

    A name without a slash is searched for in ``path``, as a shell does.

    Raises:
        UserError: where there is no such program, or none that the kernel would run.
    """
    found = shutil.which(os.path.expanduser(program), path=path)
    if found is None:
        raise UserError(
            f"{shown(program)}: no such program" + ("" if "/" in program else " in PATH"),
            help="type the path of a launcher, for instance: mpi launch /usr/bin/mpirun -n 4 ./a.out",
            kind="no_launch",
        )
    binary = os.path.abspath(found)
    before: List[str] = []
    for _ in range(_MAX_SCRIPTS + 1):
        first = _first_line(binary)
        if first.startswith(b"\x7fELF"):
            return binary, before
        if not first.startswith(b"#!"):
            break
        words = os.fsdecode(first[2:]).strip().split(None, 1)
        if not words:
            break
        before = [*(word.strip() for word in words[1:]), binary, *before]
        binary = words[0]
    raise UserError(
        f"{shown(binary)}: neither a program nor a script that names its interpreter (#!)",
        help="for a script without such a line, type: mpi launch /bin/sh SCRIPT ARGUMENTS",
        kind="no_launch",
    )


def _first_line(path: str) -> bytes:
    try:
        with files.opened(path) as file:
            return file.read(_MAX_LINE).split(b"\n", 1)[0]
    except OSError as error:
        raise UserError(f"{shown(path)}: {error.strerror}", kind="no_launch") from None


def quoted(path: str) -> str:
    """A path as a word of a debugger's command line."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
