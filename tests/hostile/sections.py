"""Sections of a program's file that ask for gigabytes or for hours: debug information, tables of symbols and of frames.

Each seed is a program that runs, with sections of one kind, large or packed. Its stacks are read: within 512 MiB and 10
seconds, and whatever the sections say, the process is told.
"""

from __future__ import annotations

import functools
import lzma
import os
import random
import struct
import subprocess
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from .guarded import Run
from .typed import typed

SHORT = range(0, 13, 5)
LONG = range(2000)
MPIS: Tuple[str, ...] = ()

#: What one look may take: seconds of the processor, and bytes.
MAX_SECONDS = 10.0
MAX_BYTES = 512 << 20

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_COMPRESSED = 0x800
_ZLIB, _ZSTD = 1, 2

_PROGRAM = """
#include <unistd.h>
__attribute__((noinline)) void waits(void) { write(1, "ready\\n", 6); for (;;) pause(); }
int main(void) { waits(); return 0; }
"""


@dataclass(frozen=True)
class Section:
    """One section: its bytes, and how many it claims to have, which are zeros that the file has no room for."""

    content: bytes
    size: Optional[int] = None
    flags: int = 0


Sections = Dict[str, Section]


@functools.lru_cache(maxsize=1)
def _program() -> bytes:
    """A program without debug information."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "waits")
        subprocess.run(["gcc", "-O1", "-s", "-x", "c", "-", "-o", path], input=_PROGRAM.encode(), check=True)
        return path.read_bytes()


def elf(plain: bytes, sections: Sections, *, at_least: int = 0, name: bytes = b"") -> Tuple[bytes, int]:
    """A file with further sections, or others of the same names, and how long it is with zeros: one of them may claim
    more than there is. It has ``at_least`` so many sections, most of them called ``name``."""
    fields = list(_HEADER.unpack_from(plain))
    rows = [list(_SECTION.unpack_from(plain, fields[6] + number * _SECTION.size)) for number in range(fields[12])]
    texts = rows[fields[13]][4]
    names = [plain[texts + row[0] : plain.index(b"\0", texts + row[0])].decode() for row in rows]
    out = bytearray(plain)
    last: Optional[Tuple[List[int], Section]] = None
    for section_name, section in sections.items():
        if section_name not in names:
            names.append(section_name)
            rows.append([0, 1, 0, 0, 0, 0, 0, 0, 1, 0])
        row = rows[names.index(section_name)]
        row[2] |= section.flags
        if section.size is not None:
            last = row, section
            continue
        row[4:6] = [len(out), len(section.content)]
        out += section.content
    while len(rows) < at_least:
        names.append("")
        rows.append([0, 1, 0, 0, 64, 1, 0, 0, 1, 0])
    strings = bytearray(b"\0" + name + b"\0")
    for row, section_name in zip(rows, names):
        row[0] = len(strings) if section_name else 1
        strings += section_name.encode() + b"\0" if section_name else b""
    rows[fields[13]][4:6] = [len(out), len(strings)]
    out += strings
    out += bytes(-len(out) % 16)
    fields[6], fields[12] = len(out), len(rows)
    end = len(out) + _SECTION.size * len(rows)
    if last is not None:
        row, section = last
        assert section.size is not None
        row[4:6] = [end, section.size]
    out += b"".join(_SECTION.pack(*row) for row in rows)
    _HEADER.pack_into(out, 0, *fields)
    if last is not None:
        out += last[1].content
        end += max(last[1].size or 0, len(last[1].content))
    return bytes(out), end


def _unit(root: bytes, rest: bytes = b"", *, abbreviations: int = 0, length: Optional[int] = None) -> bytes:
    """A unit of DWARF 5 with its first entry."""
    body = struct.pack("<HBBI", 5, 1, 8, abbreviations) + root + rest
    return struct.pack("<I", len(body) if length is None else length) + body


#: Where code begins, how long it is, and where its lines are; with a name or with children.
_ABBREVIATIONS = bytes([1, 0x11, 1, 0x11, 0x01, 0x12, 0x07, 0x10, 0x17, 0, 0]) + b"\0"
_ROOT = b"\x01" + struct.pack("<QQI", 1, 1 << 40, 0)


def _size(chance: random.Random) -> int:
    return int(2 ** chance.uniform(20, 31))


def _packed(content: bytes) -> Section:
    return Section(struct.pack("<IIQQ", _ZLIB, 0, len(content), 1) + zlib.compress(content, 1), flags=_COMPRESSED)


def _zeros_by_zlib(head: bytes, size: int) -> Section:
    """Zeros that zlib makes of little."""
    packer = zlib.compressobj(9)
    pieces = [packer.compress(head)]
    for _ in range(max(0, size - len(head)) >> 20):
        pieces.append(packer.compress(bytes(1 << 20)))
    length = len(head) + (max(0, size - len(head)) >> 20 << 20)
    return Section(struct.pack("<IIQQ", _ZLIB, 0, length, 1) + b"".join(pieces) + packer.flush(), flags=_COMPRESSED)


def _zeros_by_zstd(size: int) -> Section:
    """The same by zstd: blocks of one byte that is repeated (RFC 8878, 3.1.1.2)."""
    count = max(1, size >> 17)
    block = struct.pack("<I", (1 << 17) << 3 | 1 << 1)[:3] + b"\0"
    last = struct.pack("<I", (1 << 17) << 3 | 1 << 1 | 1)[:3] + b"\0"
    frame = struct.pack("<IBB", 0xFD2FB528, 0, 0x70) + block * (count - 1) + last
    return Section(struct.pack("<IIQQ", _ZSTD, 0, count << 17, 1) + frame, flags=_COMPRESSED)


def _lines(size: int, chance: random.Random) -> bytes:
    """The beginning of lines whose directories, or files, are as many as there are bytes."""
    entries = b"\x01\x01\x0f" + b"\xff\xff\xff\xff\x7f"
    tables = entries if chance.random() < 0.5 else b"\x01\x01\x0f\x00" + entries
    rest = b"\x01\x01\x01\xfb\x0e\x0d" + bytes(12) + tables
    length = min(size, 0xFFFF_FFEF)
    return struct.pack("<IHBBI", length - 4, 5, 8, 0, length - 12) + rest


def _debug(**sections: Section) -> Sections:
    usual = {".debug_abbrev": Section(_ABBREVIATIONS), ".debug_info": Section(_unit(_ROOT))}
    return {**usual, **{name.replace("debug_", ".debug_"): section for name, section in sections.items()}}


def _counts_of_lines(chance: random.Random) -> Sections:
    """lines that claim many directories or files"""
    size = _size(chance)
    return _debug(debug_line=Section(_lines(size, chance), size))


def _packed_lines(chance: random.Random) -> Sections:
    """the same, packed"""
    size = min(_size(chance), 1 << 29)
    return _debug(debug_line=_zeros_by_zlib(_lines(size, chance), size))


def _unpacks(chance: random.Random) -> Sections:
    """sections that unpack to much"""
    sections = _debug()
    for name in chance.sample([".debug_str", ".debug_line", ".debug_addr", ".debug_rnglists", ".debug_line_str"], 3):
        size = _size(chance)
        sections[name] = _zeros_by_zstd(size) if chance.random() < 0.5 else _zeros_by_zlib(b"", min(size, 1 << 29))
    return sections


def _unpacked_units(chance: random.Random) -> Sections:
    """units that unpack to much"""
    size = min(_size(chance), 1 << 29)
    head = _unit(_ROOT, length=size - 4)
    return _debug(debug_info=_zeros_by_zlib(head, size))


def _sparse_units(chance: random.Random) -> Sections:
    """a unit of nothing but ends of lists"""
    size = _size(chance)
    return _debug(debug_info=Section(_unit(_ROOT, length=min(size, 0xFFFF_FFEF) - 4), size))


def _many_abbreviations(chance: random.Random) -> Sections:
    """many units, each with most of one large table"""
    count = chance.choice((100, 1000, 10_000))
    entry = bytes([0x34, 0, 0, 0])
    table = bytearray(_ABBREVIATIONS[:-1])
    places = []
    for number in range(chance.choice((1000, 100_000))):
        if number < count:
            places.append(len(table))
            table += _ABBREVIATIONS[:-1]
        code = 2 + number
        table += bytes([code & 0x7F | 0x80, code >> 7 & 0x7F | 0x80, code >> 14 & 0x7F]) + entry
    table += b"\0"
    units = b"".join(_unit(_ROOT, abbreviations=place) for place in places)
    return _debug(debug_abbrev=Section(bytes(table)), debug_info=Section(units))


def _wide_entries(chance: random.Random) -> Sections:
    """entries with many attributes that have no bytes"""
    wide = bytes([2, 0x34, 0]) + bytes([0x3F, 0x19]) * chance.choice((100, 10_000, 200_000)) + b"\0\0"
    entries = b"\x02" * chance.choice((1000, 5_000_000))
    table = _ABBREVIATIONS[:-1] + wide + b"\0"
    return _debug(debug_abbrev=Section(table), debug_info=Section(_unit(_ROOT, entries)))


def _many_functions(chance: random.Random) -> Sections:
    """as many functions as there is room for"""
    table = _ABBREVIATIONS[:-1] + bytes([2, 0x2E, 0, 0x11, 0x01, 0x12, 0x0B, 0, 0]) + b"\0"
    entry = b"\x02" + struct.pack("<QB", 0x1000, 0xFF)
    content = _unit(_ROOT, entry * chance.choice((10_000, 3_000_000)))
    return _debug(debug_abbrev=Section(table), debug_info=Section(content))


def _sparse_frames(chance: random.Random) -> Sections:
    """tables of frames that claim much"""
    return {
        chance.choice((".eh_frame", ".debug_frame")): Section(b"", _size(chance)),
        ".eh_frame_hdr": Section(bytes(16)),
    }


def _many_frames(chance: random.Random) -> Sections:
    """as many entries of frames as there is room for"""
    common = struct.pack("<IIB3sBBB", 15, 0xFFFF_FFFF, 4, b"\0\x08\0", 1, 0x78, 16) + bytes(3)
    common = struct.pack("<I", len(common) - 4) + common[4:]
    entry = struct.pack("<IIQQ", 20, 0, 0x1000, 0x10)
    return {".debug_frame": Section(common + entry * chance.choice((1000, 4_000_000)))}


def _symbols(chance: random.Random) -> Sections:
    """tables of symbols that claim much"""
    symbol = struct.pack("<IBBHQQ", 1, 0x12, 0, 14, 0x1000, 0x10)
    content = symbol * chance.choice((1000, 3_000_000))
    strings = b"\0" + b"n" * chance.choice((10, 60_000)) + b"\0"
    if chance.random() < 0.5:
        return {".symtab": Section(b"", _size(chance)), ".strtab": Section(strings)}
    return {".symtab": Section(content), ".strtab": Section(strings)}


def _ranges(chance: random.Random) -> Sections:
    """as many ranges of addresses as there is room for"""
    count = chance.choice((1000, 4_000_000))
    pairs = struct.pack("<QQ", 0x1000, 0x10) * count
    head = struct.pack("<IHIBB", 12 + len(pairs), 2, 0, 8, 0) + bytes(4)
    return _debug(debug_aranges=Section(head + pairs))


def _embedded(chance: random.Random) -> Sections:
    """an embedded file of many sections with one long name"""
    count, length = chance.choice(((300, 40 << 20), (60_000, 40 << 20), (60_000, 100)))
    inner, _ = elf(_program(), {}, at_least=count, name=b"n" * length)
    return {".gnu_debugdata": Section(lzma.compress(inner, preset=0))}


KINDS: Sequence[Callable[[random.Random], Sections]] = (
    _counts_of_lines,
    _packed_lines,
    _unpacks,
    _unpacked_units,
    _sparse_units,
    _many_abbreviations,
    _wide_entries,
    _many_functions,
    _sparse_frames,
    _many_frames,
    _symbols,
    _ranges,
    _embedded,
)


def runs(seeds: Sequence[int], mpi: Optional[str] = None) -> Iterator[Run]:
    """One program a seed."""
    for seed in seeds:
        chance = random.Random(seed)
        kind = KINDS[seed % len(KINDS)]
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "waits")
            content, length = elf(_program(), kind(chance))
            path.write_bytes(content)
            os.truncate(path, length)
            path.chmod(0o755)
            yield _look(f"{seed}: {kind.__doc__}", path)


def _look(what: str, path: Path) -> Run:
    process = subprocess.Popen([path], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        if process.stdout.readline() != b"ready\n":
            return Run(what, ("the program does not run: the generator is wrong",))
        ended = typed(["stacks", "--pid", str(process.pid)], limit=MAX_SECONDS, most=MAX_BYTES)
        problems = list(ended.problems)
        if ended.status not in (0, 1) or "pause" not in ended.out:
            problems.append(f"the stack is not told (status {ended.status}): {ended.out[-500:]}{ended.err[-500:]}")
        said = "beyond a limit" if "MPI_QUEUES_LIMITS" in ended.out + ended.err else ended.outcome
        return Run(what, tuple(problems), ended.seconds, said)
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
