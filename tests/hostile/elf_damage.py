"""ELF files that lie: what is done to one, by chance."""

from __future__ import annotations

import random
import struct
from typing import Callable, Dict, List, Tuple

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION, _SEGMENT, _SYMBOL, _DYNAMIC = 64, 56, 24, 16
_HUGE = (0, 1, 7, 0x7FFF_FFFF, 1 << 31, 16 << 30, 1 << 47, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, (1 << 64) - 4096)
_SYMTAB, _NOTE, _DYNSYM, _DYNAMIC_KIND = 2, 7, 11, 6
_COMPRESSED = 0x800

#: A section: its name, kind, flags, place and length in the file.
_Section = Tuple[str, int, int, int, int]


def _sections(content: bytes) -> List[_Section]:
    fields = _HEADER.unpack_from(content)
    at, count, names = fields[6], fields[12], fields[13]
    rows = [struct.unpack_from("<IIQQQQIIQQ", content, at + number * _SECTION) for number in range(count)]
    texts = rows[names][4] if rows else 0
    found = []
    for row in rows:
        end = content.index(b"\0", texts + row[0])
        found.append((content[texts + row[0] : end].decode(), row[1], row[2], row[4], row[5]))
    return found


def _put(out: bytearray, at: int, size: int, chance: random.Random) -> None:
    """Something else in a field."""
    if at + size <= len(out):
        old = int.from_bytes(out[at : at + size], "little")
        value = chance.choice((*_HUGE, len(out), old + 1, old - 1, old ^ 1 << chance.randrange(8 * size)))
        out[at : at + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "little")


def _header(out: bytearray, chance: random.Random) -> None:
    """fields of the header"""
    for _ in range(chance.choice((1, 3))):
        at, size = chance.choice(
            ((16, 2), (18, 2), (32, 8), (40, 8), (52, 2), (54, 2), (56, 2), (58, 2), (60, 2), (62, 2))
        )
        _put(out, at, size, chance)


def _tables(out: bytearray, chance: random.Random) -> None:
    """fields of section headers and program headers"""
    fields = _HEADER.unpack_from(out)
    for _ in range(chance.choice((1, 5, 50))):
        if chance.random() < 0.7:
            at = fields[6] + _SECTION * chance.randrange(max(1, fields[12]))
            place, size = chance.choice(
                ((0, 4), (4, 4), (8, 8), (16, 8), (24, 8), (32, 8), (40, 4), (44, 4), (48, 8), (56, 8))
            )
        else:
            at = fields[5] + _SEGMENT * chance.randrange(max(1, fields[10]))
            place, size = chance.choice(((0, 4), (4, 4), (8, 8), (16, 8), (32, 8), (40, 8), (48, 8)))
        _put(out, at + place, size, chance)


def _symbols(out: bytearray, chance: random.Random) -> None:
    """symbols"""
    tables = [one for one in _sections(out) if one[1] in (_SYMTAB, _DYNSYM) and one[4] >= _SYMBOL]
    if not tables:
        return _bytes(out, chance)
    for _ in range(chance.choice((1, 20, 1000))):
        _, _, _, at, length = chance.choice(tables)
        place, size = chance.choice(((0, 4), (4, 1), (6, 2), (8, 8), (16, 8)))
        _put(out, at + _SYMBOL * chance.randrange(length // _SYMBOL) + place, size, chance)


def _notes(out: bytearray, chance: random.Random) -> None:
    """lengths in notes"""
    for name, kind, _, at, _ in _sections(out):
        if kind == _NOTE or name.startswith(".note"):
            _put(out, at + chance.choice((0, 4, 8)), 4, chance)


def _dynamic(out: bytearray, chance: random.Random) -> None:
    """the table of the dynamic linker, and tables of hashes"""
    for name, kind, _, at, length in _sections(out):
        if kind == _DYNAMIC_KIND and length:
            for _ in range(chance.choice((1, 5))):
                _put(out, at + 8 * chance.randrange(length // 8), 8, chance)
        elif name.endswith("hash") and chance.random() < 0.5:
            _put(out, at + 4 * chance.randrange(4), 4, chance)


def _debug(out: bytearray, chance: random.Random) -> None:
    """debug information"""
    found = [one for one in _sections(out) if one[0].startswith((".debug", ".eh_frame")) and one[4]]
    if not found:
        return _bytes(out, chance)
    for _ in range(chance.choice((1, 10, 300))):
        _, _, flags, at, length = chance.choice(found)
        if flags & _COMPRESSED and chance.random() < 0.5:
            # What it says that it unpacks to.
            _put(out, at + chance.choice((0, 8, 16)), 8, chance)
        else:
            size = chance.choice((1, 1, 2, 4, 8))
            _put(out, at + chance.randrange(length), size, chance)


def _bytes(out: bytearray, chance: random.Random) -> None:
    """bytes"""
    for _ in range(chance.choice((1, 30, 1000))):
        out[chance.randrange(len(out))] = chance.randrange(256)


def _cut(out: bytearray, chance: random.Random) -> None:
    """cut off"""
    del out[chance.randrange(len(out)) :]


DAMAGE: Dict[str, Callable[[bytearray, random.Random], None]] = {
    (one.__doc__ or ""): one for one in (_header, _tables, _symbols, _notes, _dynamic, _debug, _bytes, _cut)
}


def damaged_elf(content: bytes, chance: random.Random) -> Tuple[str, bytes]:
    """What was done, and the file."""
    name = chance.choice(sorted(DAMAGE))
    out = bytearray(content)
    DAMAGE[name](out, chance)
    return name, bytes(out)


def damaged_text(content: bytes, chance: random.Random) -> Tuple[str, bytes]:
    """The same for what is no ELF file."""
    out = bytearray(content)
    how = chance.choice(("bytes", "cut off", "a piece many times"))
    if how == "bytes":
        _bytes(out, chance)
    elif how == "cut off":
        _cut(out, chance)
    else:
        at = chance.randrange(len(out))
        piece = bytes(out[at : at + chance.choice((1, 10, 100))])
        out[at:at] = piece * (chance.choice((1000, 1_000_000)) // len(piece) + 1)
    return how, bytes(out)
