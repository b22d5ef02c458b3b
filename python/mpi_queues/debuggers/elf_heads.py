"""What the beginning of an ELF file says of it, in a file or in the memory of a process that has it mapped.

Only files of 64 bits in little endian are read (System V ABI, chapters 4 and 5); of all others nothing is known.
"""

from __future__ import annotations

import struct
from typing import Callable, List, NamedTuple, Optional

ELF_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
PROGRAM_HEADER = struct.Struct("<IIQQQQQQ")
#: Kinds of segments, and their flag.
PT_LOAD, PT_NOTE = 1, 4
WRITABLE = 2

#: At most so many bytes at a place, fewer or none where they cannot be had.
Read = Callable[[int, int], bytes]

_MAX_HEADERS = 1024
_MAX_NOTES = 1 << 16
_NOTE = struct.Struct("<III")
_NT_GNU_BUILD_ID = 3


class Segment(NamedTuple):
    """A program header (Elf64_Phdr)."""

    kind: int
    flags: int
    offset: int
    address: int
    held: int
    size: int
    align: int


class Head(NamedTuple):
    """The ELF header's bytes, and the segments."""

    header: bytes
    segments: List[Segment]

    @property
    def base(self) -> int:
        """The address in the file of its first byte: what is added to addresses is counted from there."""
        loaded = (one for one in self.segments if one.kind == PT_LOAD and one.held)
        first = next(loaded, None)
        return first.address - first.offset if first is not None else 0


def head(read: Read) -> Optional[Head]:
    """The head of what ``read`` reads, from its first byte on; None where it is no ELF file."""
    header = read(0, ELF_HEADER.size)
    if len(header) < ELF_HEADER.size or not header.startswith(b"\x7fELF\x02\x01"):
        return None
    _, _, _, _, _, at, _, _, _, size, count, _, _, _ = ELF_HEADER.unpack(header)
    if size != PROGRAM_HEADER.size or count > _MAX_HEADERS:
        return None
    table = read(at, count * size)
    if len(table) < count * size:
        return None
    return Head(
        header,
        [
            Segment(kind, flags, offset, address, held, memory, align)
            for kind, flags, offset, address, _, held, memory, align in PROGRAM_HEADER.iter_unpack(table)
        ],
    )


def build_id(found: Head, read: Read, *, mapped: bool) -> Optional[str]:
    """The build-id as hexadecimal digits, None without one. ``mapped``: ``read`` reads memory, from where the file's
    first byte lies."""
    for segment in found.segments:
        if segment.kind != PT_NOTE:
            continue
        notes = read(segment.address - found.base if mapped else segment.offset, min(segment.held, _MAX_NOTES))
        known = _build_id_in(notes, 8 if segment.align == 8 else 4)
        if known is not None:
            return known
    return None


def _build_id_in(notes: bytes, align: int) -> Optional[str]:
    at = 0
    while at + _NOTE.size <= len(notes):
        name_size, size, kind = _NOTE.unpack_from(notes, at)
        name_at = at + _NOTE.size
        content_at = name_at + name_size + -name_size % 4
        content_at += -content_at % align if align == 8 else 0
        if kind == _NT_GNU_BUILD_ID and notes[name_at : name_at + name_size] == b"GNU\0":
            return notes[content_at : content_at + size].hex() or None
        at = content_at + size
        at += -at % align
    return None
