"""The targets of lldb and their processes."""

from __future__ import annotations

import time
from typing import Any, Tuple

import lldb

from . import settings
from .adapter import ALIVE, STOPPED


def has_process(target: Any) -> bool:
    """Whether it has a process, as far as lldb knows, and no core file."""
    process = target.GetProcess()
    if not process.IsValid() or process.GetState() not in ALIVE:
        return False
    plugin = str(process.GetPluginName() or "")
    return not plugin.endswith("-core") and plugin != "minidump"


def until_running(process: Any, stop: int) -> None:
    """Waits until a process that was resumed at this stop is seen to run, or to have stopped again: lldb tells of it
    once somebody has taken the event. Where nobody does, the wait is short."""
    deadline = time.monotonic() + 1.0
    while process.GetState() in STOPPED and process.GetStopID() == stop and time.monotonic() < deadline:
        time.sleep(0.01)


def main_thread_of(target: Any) -> Any:
    """Where a command runs: the innermost frame of the thread with which a process began.

    Within a command, lldb's selection alone would still mean the outer one's.
    """
    process = target.GetProcess()
    threads = sorted(process, key=lambda thread: int(thread.GetIndexID()))
    frame = threads[0].GetFrameAtIndex(0) if threads else None
    if frame is not None and frame.IsValid():
        return lldb.SBExecutionContext(frame)
    return lldb.SBExecutionContext(threads[0] if threads else process)


def key_of(process: Any) -> Tuple[int, int]:
    """lldb's number of a process, and its id, which may come again."""
    return int(process.GetUniqueID()), int(process.GetProcessID())


def attached(debugger: Any, pid: int) -> Tuple[Any, Any, Any]:
    """Attaches to a process: the target, the process and the error."""
    target, error = debugger.CreateTarget(""), lldb.SBError()
    with settings.patient(debugger):
        process = target.AttachToProcessWithID(lldb.SBListener(), pid, error)
    return target, process, error
