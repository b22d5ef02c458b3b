"""A file made of what memory has of one that is not to be had: code, the functions that it exports, and how its stack
is unwound. Debug information and what only the file's own symbol table tells are in no memory.

Section headers, which debuggers go by, are in no memory either: they are made anew from the segments and from the
table of the dynamic linker (System V ABI, chapters 4 and 5; Linux Standard Base, "Exception Frames").
"""

from __future__ import annotations

import struct
from typing import Dict, List, NamedTuple, Optional, Tuple

from .elf_heads import ELF_HEADER, PROGRAM_HEADER, PT_LOAD, PT_NOTE, WRITABLE, Head, Read, Segment, head

#: A larger one is not copied (bytes).
_MAX_IMAGE = 256 << 20
_PIECE = 1 << 20

_PT_DYNAMIC, _PT_TLS, _PT_EH_FRAME, _PT_RELRO = 2, 7, 0x6474E550, 0x6474E552
_EXECUTABLE = 1
_DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_STRSZ, _DT_GNU_HASH = 4, 5, 6, 10, 0x6FFFFEF5
_MAX_DYNAMIC = 1024
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_PROGBITS, _STRTAB, _NOTE, _NOBITS, _DYNSYM = 1, 3, 7, 8, 11
_ALLOC, _WRITE, _EXECINSTR = 2, 1, 4
_RESERVED_INDEX = 0xFF00
#: The first word of .eh_frame_hdr as linkers write it: version 1, .eh_frame by a distance of four bytes from itself.
_PCREL_SDATA4 = 0x1B


class _Section(NamedTuple):
    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: str = ""
    entry: int = 0


def memory_image(read: Read, start: int) -> Optional[bytes]:
    """``read`` reads memory, from where the file's first byte lies, which is at ``start``. None where that is no ELF
    file, or too large."""
    found = head(read)
    if found is None:
        return None
    constant = [one for one in found.segments if one.kind == PT_LOAD and one.held and not one.flags & WRITABLE]
    length = max((one.offset + one.held for one in constant), default=0)
    if not 0 < length <= _MAX_IMAGE:
        return None
    content = bytearray(length)
    for segment in constant:
        for at in range(0, segment.held, _PIECE):
            piece = read(segment.address - found.base + at, min(_PIECE, segment.held - at))
            content[segment.offset + at : segment.offset + at + len(piece)] = piece
    sections = _sections(found, read, content, start - found.base)
    _write_symbols(sections, content)
    return _with_headers(found, content, sections)


def _offset(found: Head, address: int, length: int = 1) -> Optional[int]:
    """Where an address of the file lies in it, of what is constant."""
    for one in found.segments:
        within = one.kind == PT_LOAD and one.address <= address and address + length <= one.address + one.held
        if within and not one.flags & WRITABLE:
            return one.offset + address - one.address
    return None


def _sections(found: Head, read: Read, content: bytearray, bias: int) -> List[_Section]:
    sections = []
    for one in found.segments:
        if one.kind == PT_NOTE and _offset(found, one.address, one.held) is not None:
            sections.append(_Section(".note.gnu.build-id", _NOTE, _ALLOC, one.address, one.offset, one.held))
        elif one.kind == PT_LOAD and one.flags & _EXECUTABLE and one.held:
            sections.append(
                _Section(".text", _PROGBITS, _ALLOC | _EXECINSTR, one.address, one.offset, one.held),
            )
        elif one.kind == PT_LOAD and one.flags & WRITABLE:
            sections.append(_Section(".data", _NOBITS, _ALLOC | _WRITE, one.address, one.offset, one.size))
    return [*sections, *_dynamic_symbols(found, read, content, bias), *_frames(found, content)]


def _dynamic(found: Head, read: Read) -> Dict[int, int]:
    """The first entry of each kind in the dynamic section."""
    segment = next((one for one in found.segments if one.kind == _PT_DYNAMIC), None)
    if segment is None:
        return {}
    entries: Dict[int, int] = {}
    words = read(segment.address - found.base, min(segment.size, 16 * _MAX_DYNAMIC))
    for tag, value in struct.iter_unpack("<QQ", words[: len(words) // 16 * 16]):
        if tag == 0:
            break
        entries.setdefault(tag, value)
    return entries


def _dynamic_symbols(found: Head, read: Read, content: bytearray, bias: int) -> List[_Section]:
    entries = _dynamic(found, read)
    size = entries.get(_DT_STRSZ, 0)
    hashes = entries.get(_DT_GNU_HASH) or entries.get(_DT_HASH) or 0
    # glibc adds the bias to them, other C libraries do not.
    symbols, strings, table = (
        value - bias if value >= bias else value
        for value in (entries.get(_DT_SYMTAB, 0), entries.get(_DT_STRTAB, 0), hashes)
    )
    symbols_at, strings_at, hashes_at = (_offset(found, value) for value in (symbols, strings, table))
    if symbols_at is None or strings_at is None or hashes_at is None or strings_at + size > len(content):
        return []
    count = _count(content, hashes_at, gnu=_DT_GNU_HASH in entries and entries[_DT_GNU_HASH] == hashes)
    if count <= 0 or symbols_at + count * _SYMBOL.size > len(content):
        return []
    return [
        _Section(".dynstr", _STRTAB, _ALLOC, strings, strings_at, size),
        _Section(".dynsym", _DYNSYM, _ALLOC, symbols, symbols_at, count * _SYMBOL.size, ".dynstr", _SYMBOL.size),
    ]


def _count(content: bytearray, at: int, *, gnu: bool) -> int:
    """The number of symbols, by the hash table (System V ABI, "Hash Table"; DT_GNU_HASH as glibc reads it)."""
    try:
        if not gnu:
            return int(struct.unpack_from("<II", content, at)[1])
        buckets, first, bloom, _ = struct.unpack_from("<IIII", content, at)
        at += 16 + 8 * bloom
        last = max(struct.unpack_from(f"<{buckets}I", content, at), default=0)
        if last < first:
            return int(first)
        at += 4 * buckets
        while not struct.unpack_from("<I", content, at + 4 * (last - first))[0] & 1:
            last += 1
        return int(last) + 1
    except struct.error:
        return 0


def _frames(found: Head, content: bytearray) -> List[_Section]:
    """.eh_frame, whose end is a record of no length."""
    header = next((one for one in found.segments if one.kind == _PT_EH_FRAME), None)
    if header is None or header.held < 8:
        return []
    offset = _offset(found, header.address, header.held)
    if offset is None or content[offset] != 1 or content[offset + 1] != _PCREL_SDATA4:
        return []
    (distance,) = struct.unpack_from("<i", content, offset + 4)
    address = header.address + 4 + distance
    start = _offset(found, address)
    if start is None:
        return []
    at = start
    try:
        while length := struct.unpack_from("<I", content, at)[0]:
            if length == 0xFFFFFFFF:
                return []
            at += 4 + length
    except struct.error:
        return []
    return [
        _Section(".eh_frame_hdr", _PROGBITS, _ALLOC, header.address, offset, header.held),
        _Section(".eh_frame", _PROGBITS, _ALLOC, address, start, at + 4 - start),
    ]


def _write_symbols(sections: List[_Section], content: bytearray) -> None:
    """Symbols name their sections by number; these have new ones."""
    table = next((one for one in sections if one.name == ".dynsym"), None)
    if table is None:
        return
    holders = [(number, one) for number, one in enumerate(sections, 1) if one.name in (".text", ".data")]
    for at in range(table.offset, table.offset + table.size, _SYMBOL.size):
        name, info, other, index, value, size = _SYMBOL.unpack_from(content, at)
        if not 0 < index < _RESERVED_INDEX:
            continue
        holder = next((number for number, one in holders if one.address <= value < one.address + one.size), None)
        # What is constant belongs to no section of ours; any of them has the same distance to its addresses.
        number = holder if holder is not None else holders[0][0] if holders else 0
        _SYMBOL.pack_into(content, at, name, info, other, number, value, size)


def _with_headers(found: Head, content: bytearray, sections: List[_Section]) -> bytes:
    names, places = b"\0", {}
    for name in [*dict.fromkeys(one.name for one in sections), ".shstrtab"]:
        places[name] = len(names)
        names += name.encode() + b"\0"
    content.extend(bytes(-len(content) % 16))
    names_at = len(content)
    all_sections = [*sections, _Section(".shstrtab", _STRTAB, 0, 0, names_at, len(names))]
    numbers = {one.name: number for number, one in enumerate(all_sections, 1)}
    content.extend(names + bytes(-len(names) % 16))
    table_at = len(content)
    content.extend(bytes(_SECTION.size))
    for one in all_sections:
        link = numbers.get(one.link, 0)
        # Of the symbols only the first is local.
        info = 1 if one.kind == _DYNSYM else 0
        fields = (places[one.name], one.kind, one.flags, one.address, one.offset, one.size, link, info, 1, one.entry)
        content.extend(_SECTION.pack(*fields))
    _write_segments(found, content)
    header = list(ELF_HEADER.unpack_from(content, 0))
    header[6], header[11], header[12], header[13] = table_at, _SECTION.size, len(all_sections) + 1, len(all_sections)
    ELF_HEADER.pack_into(content, 0, *header)
    return bytes(content)


def _write_segments(found: Head, content: bytearray) -> None:
    """What is not in the copy is in none of its segments."""
    at = ELF_HEADER.unpack_from(content, 0)[5]
    for number, one in enumerate(found.segments):
        place = at + number * PROGRAM_HEADER.size
        if place + PROGRAM_HEADER.size > len(content):
            return
        kind, held = _kept(one)
        address = one.address
        PROGRAM_HEADER.pack_into(
            content, place, kind, one.flags, one.offset, address, address, held, one.size, one.align
        )


def _kept(segment: Segment) -> Tuple[int, int]:
    if segment.kind in (_PT_DYNAMIC, _PT_TLS, _PT_RELRO):
        return 0, 0
    return segment.kind, 0 if segment.kind == PT_LOAD and segment.flags & WRITABLE else segment.held
