"""gdb as the child of the command line: attaches to a process or opens a core file."""

from __future__ import annotations

import contextlib
from typing import Optional

import gdb

from ..commands.context import DebuggedMpi
from ..errors import UserError
from . import child
from .gdb_sessions import GdbInferior


def serve() -> None:
    """Serves one request."""
    child.serve(_GdbOpener())


class _GdbOpener(child.Opener):
    errors = (gdb.error,)

    def attach(self, pid: int) -> DebuggedMpi:
        try:
            if gdb.selected_inferior().pid:
                # Symbols of a library are read once for all inferiors: the second costs 7 ms, the first 200.
                numbers = {int(inferior.num) for inferior in gdb.inferiors()}
                gdb.execute("add-inferior", to_string=True)
                new = max({int(inferior.num) for inferior in gdb.inferiors()} - numbers)
                gdb.execute(f"inferior {new}", to_string=True)
            gdb.execute(f"attach {pid}", to_string=True)
        except gdb.error as error:
            raise UserError(f"gdb cannot attach to pid {pid}: {error}", kind="no_permission") from None
        return GdbInferior(gdb.selected_inferior(), [])

    def open_core(self, core: str, exe: str) -> DebuggedMpi:
        try:
            gdb.execute(f"file {_quoted(exe)}", to_string=True)
            # gdb takes the rest of the line as it is, from version 16 on in quotes where it needs them.
            plain = core.isascii() and not set(core) & set(" \t\"'\\")
            quoted = not plain and int(gdb.VERSION.split(".")[0]) >= 16
            gdb.execute(f"core-file {_quoted(core) if quoted else core}", to_string=True)
        except gdb.error as error:
            raise UserError(f"gdb cannot open the core file {core}: {error}", kind="no_core") from None
        return GdbInferior(gdb.selected_inferior(), [])

    def release(self, pid: Optional[int] = None) -> None:
        for inferior in gdb.inferiors():
            if inferior.pid and pid in (None, inferior.pid):
                # It may be let go of already, or have ended meanwhile; gdb lets go of all others when it ends.
                with contextlib.suppress(gdb.error):
                    gdb.execute(f"detach inferiors {inferior.num}", to_string=True)


def _quoted(path: str) -> str:
    """As gdb takes apart the arguments of a command (gdb_buildargv: quotes and backslashes as in a shell)."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
