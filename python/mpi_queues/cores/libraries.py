"""The libraries that a core file's memory names, which are not those that it had mapped: debuggers open these names.

They stand in the list of the dynamic linker, to which the program's dynamic section leads (System V ABI, chapter 5;
``r_debug`` and ``link_map`` in glibc's elf/link.h). Debuggers take where that section lies from the program's file.
"""

from __future__ import annotations

import contextlib
import os
import struct
from typing import Callable, Iterator, List, Optional, Set

from ..debuggers.base import DebuggerError
from ..debuggers.kept_files import read_at
from ..system import files
from .elf_heads import Head, head
from .file import CoreFile
from .format import AT_PHDR

#: Exactly so many bytes at an address.
Read = Callable[[int, int], bytes]

_PT_DYNAMIC, _PT_PHDR = 2, 6
_DT_NULL, _DT_DEBUG = 0, 21
_HEADERS = 64
_MAX_ENTRIES, _MAX_LIBRARIES, _MAX_NAME = 512, 8192, 4096
_PIECE = 256


def named_libraries(core: CoreFile, program: str) -> List[str]:
    """Their paths, by the linker's list; none where that cannot be read."""
    try:
        with files.opened(program) as file:
            found = head(lambda at, length: read_at(file.fileno(), at, length))
    except OSError:
        return []
    if found is None:
        return []
    out: List[str] = []
    # What is read before something is missing counts.
    with contextlib.suppress(DebuggerError):
        out.extend(os.fsdecode(name) for name in _names(core, found))
    return out


def _names(core: CoreFile, found: Head) -> Iterator[bytes]:
    start = _list(core.read, found, core.auxiliary.get(AT_PHDR, 0))
    seen: Set[int] = set()
    while start and start not in seen and len(seen) < _MAX_LIBRARIES:
        seen.add(start)
        _, name_at, _, start = struct.unpack("<QQQQ", core.read(start, 32))
        try:
            name = _text(core.read, name_at)
        except DebuggerError:
            continue
        if name:
            yield name


def _list(read: Read, found: Head, headers: int) -> Optional[int]:
    """Where the list begins."""
    dynamic = next((one.address for one in found.segments if one.kind == _PT_DYNAMIC), None)
    own = next((one.address for one in found.segments if one.kind == _PT_PHDR), found.base + _HEADERS)
    if dynamic is None:
        return None
    at = dynamic + headers - own
    for entry in range(at, at + 16 * _MAX_ENTRIES, 16):
        tag, value = struct.unpack("<QQ", read(entry, 16))
        if tag == _DT_NULL:
            return None
        if tag == _DT_DEBUG:
            return int(struct.unpack("<Q", read(value + 8, 8))[0]) if value else None
    return None


def _text(read: Read, at: int) -> bytes:
    out = b""
    while b"\0" not in out and len(out) < _MAX_NAME:
        # Not over the end of the page, behind which nothing may be.
        length = _PIECE - at % _PIECE
        out += read(at, length)
        at += length
    return out.partition(b"\0")[0]
