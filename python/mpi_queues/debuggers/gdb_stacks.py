"""gdb's stacks, and the guard of what the user has selected."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterator, List, Tuple

import gdb

from .base import DebuggedProcess, FrameDict, StackDict
from .gdb_calls import Calls, guarded
from .gdb_quiet import Mute
from .names import without_parameters

#: A stack deeper than this is not walked to its end; MPI's own part of a stack is a few dozen frames.
MAX_FRAMES = 256
MAX_THREADS = 1024


@contextmanager
def selection_kept() -> Iterator[None]:
    """Leaves gdb's selected inferior, thread and frame as they were."""
    inferior = gdb.selected_inferior()
    thread = gdb.selected_thread()
    frame = None
    if thread is not None:
        try:
            frame = gdb.selected_frame()
        except gdb.error:
            frame = None
    try:
        yield
    finally:
        if thread is not None and thread.is_valid():
            if gdb.selected_thread() != thread:
                thread.switch()
            if frame is not None and frame.is_valid() and gdb.selected_frame() != frame:
                frame.select()
        elif inferior.is_valid() and gdb.selected_inferior() != inferior:
            _select_by_command(inferior)


def select_inferior(inferior: Any) -> None:
    """Makes ``inferior`` the one that gdb's reads and lookups mean; to be used inside ``selection_kept``."""
    if gdb.selected_inferior() == inferior:
        return
    threads = inferior.threads()
    if threads:
        threads[0].switch()
    else:
        _select_by_command(inferior)


def _select_by_command(inferior: Any) -> None:
    """For one without a thread there is nothing else; gdb tells of it past ``to_string``."""
    with Mute():
        gdb.execute(f"inferior {inferior.num}", to_string=True)


def stacks(inferior: Any, process: DebuggedProcess) -> Tuple[List[StackDict], bool]:
    """The stack of each thread of ``inferior``, by thread number; and whether every thread has one. ``process`` is
    the same."""
    found: List[StackDict] = []
    every = True
    calls = Calls(inferior, process)
    with selection_kept(), guarded():
        threads = sorted(inferior.threads(), key=lambda thread: int(thread.num))
        for thread in threads[:MAX_THREADS]:
            if not thread.is_valid() or thread.is_running() or thread.is_exited():
                every = False
                continue
            try:
                thread.switch()
                found.append(_stack(int(thread.num), calls))
            except gdb.error:
                # A stack that cannot be unwound says nothing about MPI.
                every = False
    return found, every and 0 < len(threads) <= MAX_THREADS


def _stack(number: int, calls: Calls) -> StackDict:
    """The selected thread's stack."""
    frame = gdb.newest_frame()
    walked = []
    frames: List[FrameDict] = []
    complete = False
    for _ in range(MAX_FRAMES):
        try:
            frames.append(_frame(frame, calls))
            walked.append(frame)
            older = frame.older()
        except gdb.error:
            break
        if older is None:
            # gdb ends a walk in main without a reason; every other early end has one. But where it knows no program
            # (a core file without one) it takes any words for frames, until a zero or for as long as it goes.
            ends = (gdb.FRAME_UNWIND_NO_REASON, gdb.FRAME_UNWIND_OUTERMOST)
            known = frame.pc() != 0 and any(one["function"] is not None for one in frames)
            complete = known and frame.unwind_stop_reason() in ends
            break
        frame = older
    stack: StackDict = {"thread": number, "complete": complete, "frames": frames}
    calls.tell(stack, walked)
    return stack


def _frame(frame: Any, calls: Calls) -> FrameDict:
    # Without debug information gdb gives a C++ function as it was demangled, with its parameters.
    name = frame.name()
    where = frame.find_sal()
    known = where is not None and where.symtab is not None and where.line > 0
    return {
        "function": without_parameters(name) if name else None,
        "file": str(where.symtab.filename) if known else None,
        "line": int(where.line) if known else None,
        "application": calls.is_application(frame),
    }
