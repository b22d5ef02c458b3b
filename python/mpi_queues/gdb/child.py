"""gdb as the child of the command line: attaches to a process or opens a core file."""

from __future__ import annotations

import contextlib
from typing import Optional

import gdb

from ..debuggers import child
from ..debuggers.debugged import DebuggedMpi
from ..debuggers.kept_files import command_path
from ..errors import UserError
from ..system.paths import shown
from . import text as gdb_text
from .sessions import GdbInferior


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
                gdb_text.execute("add-inferior")
                new = max({int(inferior.num) for inferior in gdb.inferiors()} - numbers)
                gdb_text.execute(f"inferior {new}")
            gdb_text.execute(f"attach {pid}")
        except gdb.error as error:
            raise UserError(f"gdb cannot attach to pid {pid}: {error}", kind="no_permission") from None
        return GdbInferior(gdb.selected_inferior(), [])

    def open_core(self, core: str, exe: str) -> DebuggedMpi:
        try:
            # A core file names its executable, and whoever named that file would type into gdb: no name goes into a
            # command but plain ones.
            gdb_text.execute(f"file {command_path(exe)}")
            gdb_text.execute(f"core-file {command_path(core)}")
        except gdb.error as error:
            raise UserError(f"gdb cannot open the core file {shown(core)}: {error}", kind="no_core") from None
        return GdbInferior(gdb.selected_inferior(), [])

    def release(self, pid: Optional[int] = None) -> None:
        for inferior in gdb.inferiors():
            if inferior.pid and pid in (None, inferior.pid):
                # It may be let go of already, or have ended meanwhile; gdb lets go of all others when it ends.
                with contextlib.suppress(gdb.error):
                    gdb_text.execute(f"detach inferiors {inferior.num}")
