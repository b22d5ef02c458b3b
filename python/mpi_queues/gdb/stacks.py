"""gdb's stacks, and the guard of what the user has selected."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterator, List, Optional, Tuple, TypedDict

import gdb

from .. import _native
from ..debuggers import system_calls
from ..debuggers.base import FrameDict, StackDict, SystemCallDict
from ..debuggers.local import TracedProcess
from ..debuggers.names import without_parameters
from . import text as gdb_text
from .calls import Calls, guarded
from .quiet import Mute
from .text import text

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
        gdb_text.execute(f"inferior {inferior.num}")


def stacks(inferior: Any, process: TracedProcess) -> Tuple[List[StackDict], bool]:
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
                stack = _stack(int(thread.num), calls, process)
                stack["kernel_thread"] = int(thread.ptid[1])
                # Linux gives the thread that the process begins with the process's number.
                stack["main"] = stack["kernel_thread"] == int(inferior.pid)
                stack["system_call"] = _system_call(thread, inferior, process)
                if stack["system_call"] is not None:
                    stack["thread_pointer"] = _register(gdb.newest_frame(), "fs_base")
                found.append(stack)
            except gdb.error:
                # A stack that cannot be unwound says nothing about MPI.
                every = False
    return found, every and 0 < len(threads) <= MAX_THREADS


def code_place(address: int) -> Optional[Tuple[Optional[str], Optional[str], Optional[int]]]:
    """Function, source file and line of an address of the selected inferior."""
    try:
        block, found = gdb.block_for_pc(address), gdb.find_pc_line(address)
    except (gdb.error, RuntimeError):
        return None
    while block is not None and block.function is None:
        block = block.superblock
    function = None
    if block is not None:
        name = block.function
        function = without_parameters(text(lambda: name.name))
    symtab = found.symtab
    if symtab is None or not found.line:
        return None if function is None else (function, None, None)
    return function, text(lambda: symtab.filename) or None, int(found.line)


def stack_pointers(inferior: Any) -> Optional[List[int]]:
    """Where the stack of each thread of ``inferior`` ends; None where a thread does not tell it."""
    found = []
    with selection_kept(), guarded():
        threads = inferior.threads()
        if not 0 < len(threads) <= MAX_THREADS:
            return None
        for thread in threads:
            if not thread.is_valid() or thread.is_running() or thread.is_exited():
                return None
            try:
                thread.switch()
                found.append(int(gdb.newest_frame().read_register("sp")) & ((1 << 64) - 1))
            except gdb.error:
                return None
    return found


def _stack(number: int, calls: Calls, process: TracedProcess) -> StackDict:
    """The selected thread's stack. What gdb says of code of another file than it has is not true, nor is who called
    it: the stack ends there."""
    frame = gdb.newest_frame()
    walked = []
    frames: List[FrameDict] = []
    complete = False
    wrong = None
    for _ in range(MAX_FRAMES):
        try:
            wrong = process.mistaken_at(int(frame.pc()))
            if wrong is not None:
                frames.append({"function": None, "file": None, "line": None})
                break
            frames.append(_frame(frame, calls, process))
            walked.append(frame)
            older = frame.older()
        except gdb.error:
            break
        if older is None:
            # gdb ends a walk in main without a reason; every other early end has one. But where it knows no program
            # (a core file without one) it takes any words for frames, until a zero or for as long as it goes. That it
            # names no function is no sign of it: the threads of a stripped library may have no names at all.
            ends = (gdb.FRAME_UNWIND_NO_REASON, gdb.FRAME_UNWIND_OUTERMOST)
            known = frame.pc() != 0 and (
                any(one["function"] is not None for one in frames) or all(calls.has_file(one) for one in walked)
            )
            # What called code of which gdb has no file is a guess.
            known = known and all(one["image"] is not None for one in frames)
            complete = known and frame.unwind_stop_reason() in ends
            break
        frame = older
    stack: StackDict = {"thread": number, "complete": complete, "frames": frames}
    if wrong is None:
        calls.tell(stack, walked)
    else:
        _native.refuse_call(stack, str(wrong))
    return stack


def _frame(frame: Any, calls: Calls, process: TracedProcess) -> FrameDict:
    # Without debug information gdb gives a C++ function as it was demangled, with its parameters.
    name = text(frame.name)
    where = frame.find_sal()
    known = where is not None and where.symtab is not None and where.line > 0
    return {
        "function": without_parameters(name) if name else None,
        "file": text(lambda: where.symtab.filename) if known else None,
        "line": int(where.line) if known else None,
        **_origin(frame, calls, process),
    }


class _Origin(TypedDict, total=False):
    image: Optional[str]
    application: bool
    signal: int


def _origin(frame: Any, calls: Calls, process: TracedProcess) -> _Origin:
    """The file of a frame's code, whether that is the application's, and whether it is a signal's call of a handler."""
    image = calls.image(frame)
    found: _Origin = {"image": None} if image is None else {"image": image, "application": calls.is_application(image)}
    if frame.type() == gdb.SIGTRAMP_FRAME:
        found["signal"] = _signal(frame, process)
    return found


def _signal(frame: Any, process: TracedProcess) -> int:
    """The signal for which the kernel called a handler in the selected thread. gdb does not tell it."""
    pointer, thread = _register(frame, "sp"), gdb.selected_thread()
    if pointer is None or thread is None or not process.local or process.pid is None:
        return 0
    return _native.handled_signal(process.pid, int(thread.ptid[1]), pointer & ((1 << 64) - 1))


def _register(frame: Any, name: str) -> Optional[int]:
    try:
        return int(frame.read_register(name))
    except (gdb.error, ValueError):
        return None


def _system_call(thread: Any, inferior: Any, process: TracedProcess) -> Optional[SystemCallDict]:
    """What the selected thread does in the kernel."""
    frame = gdb.newest_frame()
    machine = str(frame.architecture().name())
    found = system_calls.of_registers(machine, lambda name: _register(frame, name))
    if found is None and process.host is not None:
        found = system_calls.of_proc(int(inferior.pid), int(thread.ptid[1]), machine)
    return found
