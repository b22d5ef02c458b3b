"""Where threads stand in MPI, from gdb's stacks."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import Any, Iterator, List, Optional, Tuple

import gdb

from .base import CallDict

#: C, the profiling names that libraries export, and Fortran's spellings (mpi_recv_, mpi_recv__, mpi_recv_f08_).
MPI_FUNCTION = re.compile(r"P?MPI_[A-Z]\w*\Z|p?mpi_[a-z]\w*_\Z")

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
            # An inferior without a thread can be selected by a command only.
            gdb.execute(f"inferior {inferior.num}", to_string=True)


def select_inferior(inferior: Any) -> None:
    """Makes ``inferior`` the one that gdb's reads and lookups mean; to be used inside ``selection_kept``."""
    if gdb.selected_inferior() == inferior:
        return
    threads = inferior.threads()
    if threads:
        threads[0].switch()
    else:
        gdb.execute(f"inferior {inferior.num}", to_string=True)


def mpi_calls(inferior: Any) -> Tuple[List[CallDict], bool]:
    """The threads of ``inferior`` that are inside MPI, by thread number; and whether every stack was seen whole."""
    found: List[CallDict] = []
    complete = True
    with selection_kept():
        threads = sorted(inferior.threads(), key=lambda thread: int(thread.num))
        for thread in threads[:MAX_THREADS]:
            if not thread.is_valid() or thread.is_running() or thread.is_exited():
                complete = False
                continue
            try:
                thread.switch()
                call, whole = _call_of_stack(int(thread.num))
            except gdb.error:
                # A stack that cannot be unwound says nothing about MPI.
                complete = False
                continue
            complete = complete and whole
            if call is not None:
                found.append(call)
    return found, complete and 0 < len(threads) <= MAX_THREADS


def _call_of_stack(number: int) -> Tuple[Optional[CallDict], bool]:
    """The outermost MPI function of the selected thread's stack and the frame that called it.

    The second value tells whether the stack was walked to its outermost frame.
    """
    frame = gdb.newest_frame()
    function: Optional[str] = None
    caller: Any = None
    whole = False
    for _ in range(MAX_FRAMES):
        try:
            name = frame.name()
            older = frame.older()
        except gdb.error:
            break
        # Outermost: a library that wraps MPI calls PMPI functions from its own MPI ones.
        if name and MPI_FUNCTION.match(name):
            function, caller = name, older
        if older is None:
            # gdb ends a walk in main without a reason; every other early end has one.
            ends = (gdb.FRAME_UNWIND_NO_REASON, gdb.FRAME_UNWIND_OUTERMOST)
            whole = frame.unwind_stop_reason() in ends
            break
        frame = older
    if function is None:
        return None, whole
    call: CallDict = {"thread": number, "function": public_name(function), "file": None, "line": None, "caller": None}
    if caller is not None:
        call["caller"] = caller.name()
        where = caller.find_sal()
        if where is not None and where.symtab is not None and where.line > 0:
            call["file"] = str(where.symtab.filename)
            call["line"] = int(where.line)
    return call, whole


def public_name(function: str) -> str:
    """The name that the application used: a stripped library shows ``PMPI_Recv`` at the address of both names."""
    if function.startswith("PMPI_"):
        return function[1:]
    if function.startswith("pmpi_"):
        return function[1:]
    return function
