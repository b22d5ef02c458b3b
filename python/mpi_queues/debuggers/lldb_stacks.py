"""lldb's stacks."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import lldb

from .base import FrameDict, StackDict
from .names import without_parameters

#: As in ``gdb_stacks``.
MAX_FRAMES = 256
MAX_THREADS = 1024

#: What lldb calls a place between the symbols of a stripped file (Symbol::SynthesizeNameIfNeeded).
_UNNAMED = "___lldb_unnamed_symbol"

#: Where a stack begins: the functions that nobody called, by the names that glibc gives them
#: (sysdeps/x86_64/start.S, sysdeps/unix/sysv/linux/x86_64/clone.S and clone3.S).
_OUTERMOST = ("_start", "__clone", "clone", "__clone3", "clone3")


def stacks(process: Any) -> Tuple[List[StackDict], bool]:
    """The stack of each thread of ``process``, by thread number; and whether every thread has one."""
    threads = sorted(process, key=lambda thread: int(thread.GetIndexID()))
    found: List[StackDict] = []
    for thread in threads[:MAX_THREADS]:
        stack = _stack(thread)
        if stack["frames"]:
            found.append(stack)
    return found, 0 < len(found) == len(threads)


def _stack(thread: Any) -> StackDict:
    frames: List[FrameDict] = []
    complete = False
    for index in range(MAX_FRAMES):
        frame = thread.GetFrameAtIndex(index)
        if not frame.IsValid():
            break
        shown = _frame(frame)
        frames.append(shown)
        # As gdb does: what called main is the C library's.
        complete = (shown["function"] == "main" and _in_executable(frame)) or shown["function"] in _OUTERMOST
        if complete:
            break
    return {"thread": int(thread.GetIndexID()), "complete": complete, "frames": frames}


def _frame(frame: Any) -> FrameDict:
    entry = frame.GetLineEntry()
    known = entry.IsValid() and 0 < int(entry.GetLine()) < lldb.LLDB_INVALID_LINE_NUMBER
    return {
        "function": _function(frame),
        "file": str(entry.GetFileSpec().fullpath) if known else None,
        "line": int(entry.GetLine()) if known else None,
    }


def _function(frame: Any) -> Optional[str]:
    name = frame.GetFunctionName()
    return None if not name or str(name).startswith(_UNNAMED) else without_parameters(str(name))


def _in_executable(frame: Any) -> bool:
    executable = frame.GetThread().GetProcess().GetTarget().GetExecutable()
    return bool(frame.GetModule().GetFileSpec() == executable)
