"""gdb's threads, and the guard of what the user has selected."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterator, List, Optional, Sequence, Tuple

import gdb

from ..debuggers.base import NamedFrame, ThreadRegisters
from . import text as gdb_text
from .quiet import Mute
from .text import text

#: A stack deeper than this is not walked to its end.
_MAX_FRAMES = 256


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
    select_main_thread(inferior)


def select_main_thread(inferior: Any) -> None:
    """Selects the thread with which ``inferior`` began: the one with the lowest number. gdb lists the newest first."""
    threads = inferior.threads()
    if threads:
        min(threads, key=lambda thread: int(thread.num)).switch()
    else:
        _select_by_command(inferior)


def _select_by_command(inferior: Any) -> None:
    """For one without a thread there is nothing else; gdb tells of it past ``to_string``."""
    with Mute():
        gdb_text.execute(f"inferior {inferior.num}")


def _stopped(inferior: Any) -> Iterator[Any]:
    """Each thread that stands, selected; to be used inside ``selection_kept``."""
    for thread in sorted(inferior.threads(), key=lambda thread: int(thread.num)):
        if not thread.is_valid() or thread.is_running() or thread.is_exited():
            continue
        try:
            thread.switch()
            gdb.newest_frame()
        except gdb.error:
            # It has no stack, such as one that ends.
            continue
        yield thread


def threads(inferior: Any, names: Sequence[str]) -> List[ThreadRegisters]:
    """The threads of ``inferior`` that stand, by their numbers, with these registers as far as gdb has them."""
    found = []
    with selection_kept():
        for thread in _stopped(inferior):
            frame = gdb.newest_frame()
            held = {name: _register(frame, name) for name in names}
            known = {name: value for name, value in held.items() if value is not None}
            found.append(ThreadRegisters(int(thread.num), int(thread.ptid[1]), known))
    return found


def frames(inferior: Any) -> List[Tuple[int, int, List[NamedFrame]]]:
    """The frames of each thread of ``inferior`` that stands, as gdb names them."""
    with selection_kept():
        return [(int(thread.num), int(thread.ptid[1]), _frames()) for thread in _stopped(inferior)]


def _frames() -> List[NamedFrame]:
    """Those of the selected thread."""
    found: List[NamedFrame] = []
    try:
        frame = gdb.newest_frame()
        while frame is not None and len(found) < _MAX_FRAMES:
            found.append(_frame(frame))
            frame = frame.older()
    except gdb.error:
        # The stack ends here.
        pass
    return found


def _frame(frame: Any) -> NamedFrame:
    place, pc, name = frame.find_sal(), frame.pc(), frame.name()
    known = place.symtab is not None and place.line > 0
    image = gdb.solib_name(pc) or gdb.current_progspace().filename
    file, line = (text(lambda: place.symtab.filename), int(place.line)) if known else (None, None)
    # Without debug information gdb gives a function of C++ with its parameters.
    return NamedFrame(name.partition("(")[0] if name else None, file, line, image)


def machine(inferior: Any) -> Optional[str]:
    """As uname calls it; None of one whose registers are not asked for by name."""
    name = str(inferior.architecture().name())
    return {"i386:x86-64": "x86_64", "aarch64": "aarch64"}.get(name)


def _register(frame: Any, name: str) -> Optional[int]:
    try:
        return int(frame.read_register(name)) & ((1 << 64) - 1)
    except (gdb.error, ValueError):
        # This gdb has it not.
        return None
