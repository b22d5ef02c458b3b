"""Where the dynamic linker keeps its list of images, without a debugger's symbol lookup.

gdb's lookup of ``_r_debug`` reads the C library's debug information where that is installed, which takes longer than
everything else together. The executable's own dynamic section has the address (System V ABI, ``DT_DEBUG``), and the
kernel tells where that is (``AT_PHDR``).
"""

from __future__ import annotations

import pathlib
import struct
from typing import Callable, Dict, Optional

AT_PHDR, AT_PHENT, AT_PHNUM = 3, 4, 5
PT_DYNAMIC, PT_PHDR = 2, 6
DT_NULL, DT_DEBUG = 0, 21

#: More program headers or dynamic entries than any executable has.
_MAX_HEADERS = 256
_MAX_DYNAMIC = 64 * 1024

Read = Callable[[int, int], "bytes | memoryview"]


def auxiliary_vector(pid: int) -> Dict[int, int]:
    """The auxiliary vector of a 64-bit process of this machine; empty where it cannot be read."""
    try:
        content = pathlib.Path(f"/proc/{pid}/auxv").read_bytes()
    except OSError:
        return {}
    entries = content[: len(content) // 16 * 16]
    return dict(struct.iter_unpack("=QQ", entries))


def find_r_debug(read: Read, vector: Dict[int, int], byte_order: str) -> Optional[int]:
    """The address of ``_r_debug``, None where this way does not lead to it (static executables, 32-bit ones).

    ``read`` may raise what it likes; the caller falls back to the debugger.
    """
    order = "<" if byte_order == "little" else ">"
    start, size, count = (vector.get(key, 0) for key in (AT_PHDR, AT_PHENT, AT_PHNUM))
    # sizeof(Elf64_Phdr): a 32-bit executable has another one.
    if not start or size != 56 or not 0 < count <= _MAX_HEADERS:
        return None
    bias: Optional[int] = None
    dynamic: Optional[int] = None
    length = 0
    for header in struct.iter_unpack(order + "IIQQQQQQ", bytes(read(start, size * count))):
        kind, virtual = header[0], header[3]
        if kind == PT_PHDR:
            bias = start - virtual
        elif kind == PT_DYNAMIC:
            dynamic, length = virtual, header[6]
    if bias is None or dynamic is None or not 0 < length <= _MAX_DYNAMIC:
        return None
    section = bytes(read(dynamic + bias, length // 16 * 16))
    for tag, value in struct.iter_unpack(order + "QQ", section):
        if tag == DT_NULL:
            break
        if tag == DT_DEBUG:
            # Zero before the dynamic linker has run.
            return int(value) or None
    return None
