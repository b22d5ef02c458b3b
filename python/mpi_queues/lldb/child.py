"""lldb as the child of the command line: attaches to a process or opens a core file."""

from __future__ import annotations

from typing import Any, Dict, Optional

import lldb

from ..debuggers import child
from ..debuggers.debugged import DebuggedMpi
from ..debuggers.kept_files import command_path
from ..errors import UserError
from ..system.paths import shown
from .adapter import said
from .sessions import LldbTarget
from .targets import attached


def serve(debugger: Any) -> None:
    """Serves one request."""
    # Attaching and loading return when they are done.
    debugger.SetAsync(False)
    child.serve(_LldbOpener(debugger))


class _LldbOpener(child.Opener):
    def __init__(self, debugger: Any) -> None:
        self._debugger = debugger
        self._attached: Dict[int, Any] = {}

    def attach(self, pid: int) -> DebuggedMpi:
        target, process, error = attached(self._debugger, pid)
        if error.Fail() or not process.IsValid():
            raise UserError(f"lldb cannot attach to pid {pid}: {said(error)}", kind="no_permission")
        self._attached[pid] = process
        return LldbTarget(self._debugger, target)

    def open_core(self, core: str, exe: str) -> DebuggedMpi:
        error = lldb.SBError()
        # lldb's interface takes UTF-8 only.
        target = self._debugger.CreateTarget(command_path(exe), None, None, False, error)
        if error.Fail():
            raise UserError(f"lldb cannot use {shown(exe)}: {said(error)}", kind="no_exe")
        process = target.LoadCore(command_path(core), error)
        if error.Fail() or not process.IsValid():
            raise UserError(f"lldb cannot open the core file {shown(core)}: {said(error)}", kind="no_core")
        return LldbTarget(self._debugger, target)

    def release(self, pid: Optional[int] = None) -> None:
        for one in [pid] if pid is not None else list(self._attached):
            process = self._attached.pop(one, None)
            if process is not None and process.IsValid():
                # It goes on or stays stopped as it was: the command line sees to that.
                process.Detach()
