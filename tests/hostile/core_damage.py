"""What is done to core files: each function of ``KINDS`` does one thing to a copy, the same for the same seed."""

from __future__ import annotations

import os
import random
import re
import shutil
import struct
from pathlib import Path
from typing import Callable, Iterator, List, NamedTuple, Optional, Tuple

from .irregular import IRREGULAR, make_irregular
from .memory import PARTS, Damage
from .recordings import NASTY

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_NOTE = struct.Struct("<III")
_PT_LOAD, _PT_NOTE = 1, 4
_PRSTATUS, _PRPSINFO, _AUXV, _FILE = 1, 3, 6, 0x46494C45
_WRITABLE = 2
_PAGE = 4096
#: The path of a library where it stands in memory.
_LIBRARY = re.compile(rb"(?<=\0)/[!-~]{1,200}/lib[!-~]{1,100}\.so\.[0-9.]{1,20}(?=\0)")

#: Sizes and places that nothing has.
HUGE = (0x7FFF_FFFF, 1 << 31, 16 << 30, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, (1 << 64) - 4096)


class Segment(NamedTuple):
    """A program header, and its number."""

    number: int
    kind: int
    flags: int
    offset: int
    address: int
    physical: int
    held: int
    size: int
    align: int


class Note(NamedTuple):
    """One note."""

    name: bytes
    kind: int
    content: bytes


class Core:
    """A core file that is changed where it lies, in a directory of its own."""

    def __init__(self, path: Path, program: Path) -> None:
        self.path, self.program = path, program
        self.file = path.open("r+b", buffering=0)
        fields = _HEADER.unpack(self.read(0, _HEADER.size))
        self._table, self._count = fields[5], fields[10]

    def read(self, at: int, length: int) -> bytes:
        return os.pread(self.file.fileno(), length, at)

    def write(self, at: int, content: bytes) -> None:
        os.pwrite(self.file.fileno(), content, at)

    @property
    def size(self) -> int:
        return os.fstat(self.file.fileno()).st_size

    def segments(self) -> List[Segment]:
        table = self.read(self._table, self._count * _SEGMENT.size)
        return [Segment(number, *fields) for number, fields in enumerate(_SEGMENT.iter_unpack(table))]

    def loaded(self, flags: int = 0) -> List[Segment]:
        """Those of memory that the file has."""
        return [one for one in self.segments() if one.kind == _PT_LOAD and one.held and one.flags & flags == flags]

    def change(self, segment: Segment) -> None:
        self.write(self._table + segment.number * _SEGMENT.size, _SEGMENT.pack(*segment[1:]))

    def notes_segment(self) -> Segment:
        return next(one for one in self.segments() if one.kind == _PT_NOTE)

    def notes(self) -> List[Note]:
        segment = self.notes_segment()
        content, at, found = self.read(segment.offset, segment.held), 0, []
        while at + _NOTE.size <= len(content):
            name_size, size, kind = _NOTE.unpack_from(content, at)
            start = at + _NOTE.size + (name_size + 3) // 4 * 4
            found.append(Note(content[at + _NOTE.size :][:name_size], kind, content[start : start + size]))
            at = start + (size + 3) // 4 * 4
        return found

    def set_notes(self, content: bytes) -> None:
        """Puts other notes behind all the rest."""
        at = self.size + -self.size % 8
        self.write(at, content)
        self.change(self.notes_segment()._replace(offset=at, held=len(content)))


def _packed(notes: List[Note]) -> bytes:
    out = b""
    for name, kind, content in notes:
        out += _NOTE.pack(len(name), len(content), kind) + name + bytes(-len(name) % 4)
        out += content + bytes(-len(content) % 4)
    return out


def _renamed(core: Core, change: Callable[[bytes], bytes]) -> None:
    """Other names of the files that were mapped."""
    notes = core.notes()
    for number, (name, kind, content) in enumerate(notes):
        if kind == _FILE:
            count = int.from_bytes(content[:8], "little")
            names_at = 16 + 24 * count
            names = [change(one) for one in content[names_at:].split(b"\0")[:count]]
            notes[number] = Note(name, kind, content[:names_at] + b"".join(one + b"\0" for one in names))
    core.set_notes(_packed(notes))


def _names(core: Core) -> List[bytes]:
    found: List[bytes] = []
    for _, kind, content in core.notes():
        if kind == _FILE:
            count = int.from_bytes(content[:8], "little")
            found += content[16 + 24 * count :].split(b"\0")[:count]
    return sorted(set(found))


def _in_memory(core: Core, text: bytes) -> Iterator[int]:
    """Where a text stands in memory."""
    for segment in core.loaded():
        content = core.read(segment.offset, segment.held)
        at = content.find(text)
        while at >= 0:
            yield segment.offset + at
            at = content.find(text, at + 1)


def _words(core: Core, chance: random.Random) -> str:
    """words of memory"""
    return _memory(core, chance, words=True)


def _bytes(core: Core, chance: random.Random) -> str:
    """bytes of memory"""
    return _memory(core, chance, words=False)


def _memory(core: Core, chance: random.Random, *, words: bool) -> str:
    part, area = chance.choice(PARTS), chance.choice(("stack", "writable", "all"))
    segments = core.loaded(0 if area == "all" else _WRITABLE)
    # The last one that may be written to is the stack of the first thread.
    segments = segments[-1:] if area == "stack" else segments
    damage = Damage(chance.randrange(1 << 30), 0, area, words, part)
    for segment in segments:
        content = core.read(segment.offset, segment.held)
        for at in range(0, len(content) - _PAGE + 1, _PAGE):
            page = content[at : at + _PAGE]
            # Pages that were never touched tell nothing.
            if any(page):
                core.write(segment.offset + at, damage.of_page(segment.address + at, page))
    return f"{100 * part:g} % of {area}"


def _head(core: Core, chance: random.Random) -> None:
    """bytes of the header"""
    for _ in range(chance.choice((1, 2, 8))):
        core.write(chance.randrange(4, _HEADER.size), chance.randbytes(1))


def _counts(core: Core, chance: random.Random) -> str:
    """how many segments there are, how long their headers are, and where"""
    fields = list(_HEADER.unpack(core.read(0, _HEADER.size)))
    which = chance.choice(("count", "many", "width", "place"))
    if which == "count":
        fields[10] = chance.choice((0, 1, 2, 0x7FFF, 0xFFFE))
    elif which == "many":
        # The number stands in the first section header, where there is one.
        fields[10], fields[6] = 0xFFFF, core.size - chance.choice((0, 4, 44, 64))
        core.write(
            core.size, struct.pack("<11I", *[0] * 11) + struct.pack("<I", chance.choice((1, 1 << 20, 0xFFFFFFFF)))
        )
    elif which == "width":
        fields[9] = chance.choice((0, 1, 32, 55, 57, 0xFFFF))
    else:
        fields[5] = chance.choice((0, 1, core.size - 8, *HUGE))
    core.write(0, _HEADER.pack(*fields))
    return which


def _sizes(core: Core, chance: random.Random) -> str:
    """places and sizes of segments"""
    changed = []
    for segment in chance.sample(core.segments(), chance.choice((1, 3, 30))):
        field = chance.choice(("offset", "address", "held", "size", "align", "flags", "kind"))
        core.change(
            segment._replace(
                **{field: chance.choice((0, 1, *HUGE)) & (0xFFFFFFFF if field in ("flags", "kind") else -1)}
            )
        )
        changed.append(field)
    return ", ".join(sorted(set(changed)))


def _large(core: Core, chance: random.Random) -> str:
    """a segment of 16 GiB"""
    segment = chance.choice(core.loaded(_WRITABLE))
    held = chance.choice((segment.held, 16 << 30))
    core.change(segment._replace(size=16 << 30, held=held))
    return f"{held} of them in the file"


def _overlapping(core: Core, chance: random.Random) -> None:
    """segments that lie upon one another"""
    segments = core.loaded()
    for segment in chance.sample(segments, chance.choice((1, 10, len(segments)))):
        other = chance.choice(segments)
        core.change(segment._replace(address=other.address + chance.choice((0, 8, _PAGE, -_PAGE))))


def _table(core: Core, chance: random.Random) -> None:
    """bytes of the program headers"""
    for _ in range(chance.choice((1, 10, 200))):
        core.write(_HEADER.size + chance.randrange(len(core.segments()) * _SEGMENT.size), chance.randbytes(1))


def _note_bytes(core: Core, chance: random.Random) -> None:
    """bytes of the notes"""
    segment = core.notes_segment()
    for _ in range(chance.choice((1, 10, 100, 1000))):
        core.write(segment.offset + chance.randrange(segment.held), chance.randbytes(1))


def _note_sizes(core: Core, chance: random.Random) -> None:
    """lengths of the notes"""
    notes = core.notes()
    content, at = bytearray(_packed(notes)), 0
    chosen = chance.sample(range(len(notes)), min(len(notes), chance.choice((1, 3))))
    for number, (name, _, note) in enumerate(notes):
        if number in chosen:
            value = chance.choice((0, 1, 3, len(note) - 1, len(note) + 4, 0x7FFFFFFF, 0xFFFFFFFF)) & 0xFFFFFFFF
            struct.pack_into("<I", content, at + chance.choice((0, 4)), value)
        at += _NOTE.size + (len(name) + 3) // 4 * 4 + (len(note) + 3) // 4 * 4
    core.set_notes(bytes(content))


def _note_order(core: Core, chance: random.Random) -> None:
    """notes left out, doubled and moved"""
    notes = [one for one in core.notes() for _ in range(chance.choice((0, 1, 1, 1, 2)))]
    chance.shuffle(notes)
    core.set_notes(_packed(notes))


def _threads(core: Core, chance: random.Random) -> str:
    """threads: many of them, some twice, registers of none"""
    notes = core.notes()
    own = [one for one in notes if one.kind == _PRSTATUS]
    rest = [one for one in notes if one.kind != _PRSTATUS]
    how = chance.choice(("many", "same", "registers", "short"))
    made = list(own)
    if how in ("many", "same"):
        for number in range(chance.choice((3, 300))):
            content = bytearray(chance.choice(own).content)
            if how == "many":
                struct.pack_into("<I", content, 32, 100_000 + number)
            made.append(Note(own[0].name, _PRSTATUS, bytes(content)))
    else:
        for number, one in enumerate(made):
            content = bytearray(one.content)
            content[112 : 112 + 27 * 8] = chance.randbytes(27 * 8)
            made[number] = one._replace(
                content=bytes(content[: chance.randrange(len(content))] if how == "short" else content)
            )
    core.set_notes(_packed([*rest[:1], *made, *rest[1:]]))
    return how


def _auxiliary(core: Core, chance: random.Random) -> None:
    """the auxiliary vector"""
    notes = core.notes()
    for number, one in enumerate(notes):
        if one.kind == _AUXV:
            words = [word for (word,) in struct.iter_unpack("<Q", one.content)]
            for at in chance.sample(range(len(words)), chance.choice((1, 4, len(words) // 2))):
                words[at] = (
                    chance.choice((0, 1, 3, 5, 9, 31, words[at] + chance.choice((-8, 8, _PAGE)), *HUGE)) & (1 << 64) - 1
                )
            notes[number] = one._replace(content=struct.pack(f"<{len(words)}Q", *words))
    core.set_notes(_packed(notes))


def _mapped(core: Core, chance: random.Random) -> str:
    """the files that were mapped: their number, pages, addresses"""
    notes, which = core.notes(), chance.choice(("count", "page", "addresses"))
    for number, one in enumerate(notes):
        if one.kind == _FILE:
            content = bytearray(one.content)
            if which == "count":
                count = int.from_bytes(content[:8], "little")
                struct.pack_into("<Q", content, 0, chance.choice((0, 1, count - 1, count + 1, 1000, *HUGE)))
            elif which == "page":
                struct.pack_into("<Q", content, 8, chance.choice((0, 3, *HUGE)))
            else:
                count = int.from_bytes(content[:8], "little")
                for _ in range(chance.choice((1, 10, 100))):
                    value = chance.choice((0, chance.randrange(1 << 47), *HUGE))
                    struct.pack_into("<Q", content, 16 + 8 * chance.randrange(3 * count), value)
            notes[number] = one._replace(content=bytes(content))
    core.set_notes(_packed(notes))
    return which


def _hostile_names(core: Core, chance: random.Random) -> None:
    """names of files that steer terminals"""
    tail = NASTY.encode() + b"\xe9\xff"
    every = chance.random() < 0.5
    _renamed(core, lambda name: name + tail if every or chance.random() < 0.1 else name)


def _hostile_program(core: Core, chance: random.Random) -> None:
    """a program whose name steers terminals"""
    named = os.fsencode(core.path.parent) + b"/" + NASTY.encode() + chance.choice((b"", b"\xe9\xff", b"'\"; $(id)"))
    os.symlink(os.fsencode(core.program), named)
    _renamed(core, lambda name: named if name == os.fsencode(core.program) else name)


def _irregular_file(core: Core, chance: random.Random) -> str:
    """a file that was mapped is none"""
    kind = chance.choice(sorted(IRREGULAR))
    path = os.fsencode(make_irregular(kind, core.path.parent / "x"))
    wanted = chance.choice((os.fsencode(core.program), chance.choice(_names(core))))
    _renamed(core, lambda name: path if name == wanted else name)
    return f"{kind} for {os.fsdecode(wanted).rpartition('/')[2]}"


def _irregular_library(core: Core, chance: random.Random) -> str:
    """a library in the linker's list is no file"""
    kind = chance.choice(sorted(IRREGULAR))
    path = os.fsencode(make_irregular(kind, core.path.parent / "x"))
    # Those whose names are long enough have room for it. The list has names of links, too.
    found = {name for one in core.loaded(_WRITABLE) for name in _LIBRARY.findall(core.read(one.offset, one.held))}
    wanted = chance.choice(sorted(name for name in found if len(name) >= len(path)))
    for at in _in_memory(core, wanted + b"\0"):
        core.write(at, path + b"\0")
    return f"{kind} for {os.fsdecode(wanted).rpartition('/')[2]}"


def _damaged_program(core: Core, chance: random.Random) -> str:
    """the program that it names is damaged"""
    copy = core.path.parent / "program"
    shutil.copy(core.program, copy)
    count = chance.choice((1, 10, 100, 1000))
    with copy.open("r+b") as file:
        size = os.fstat(file.fileno()).st_size
        for _ in range(count):
            # What tells programs apart stands in the first page.
            file.seek(chance.randrange(_PAGE, size))
            file.write(chance.randbytes(1))
        if chance.random() < 0.3:
            file.truncate(chance.randrange(_PAGE, size))
    _renamed(core, lambda name: os.fsencode(copy) if name == os.fsencode(core.program) else name)
    return f"{count} bytes"


def _cut(core: Core, chance: random.Random) -> None:
    """cut off"""
    size = core.size
    if chance.random() < 0.5:
        # What tells of the process stands last; so it can be cut only where that lies elsewhere.
        core.set_notes(_packed(core.notes()))
        tail = core.notes_segment()
        front = max(one.offset + one.held for one in core.loaded()) - chance.randrange(1, size // 2)
        core.change(tail._replace(offset=front))
        core.write(front, _packed(core.notes()))
        os.ftruncate(core.file.fileno(), front + tail.held)
    else:
        os.ftruncate(core.file.fileno(), chance.randrange(size))


def _holes(core: Core, chance: random.Random) -> None:
    """holes"""
    for segment in chance.sample(core.loaded(), chance.choice((1, 10, 50))):
        at = chance.randrange(0, segment.held, _PAGE)
        length = min(segment.held - at, chance.choice((_PAGE, 16 * _PAGE, segment.held)))
        core.write(segment.offset + at, bytes(length))


def _left_out(core: Core, chance: random.Random) -> None:
    """memory that the file does not have"""
    for segment in chance.sample(core.loaded(), chance.choice((1, 10, 50))):
        core.change(segment._replace(held=chance.randrange(0, segment.held + 1, 8)))


def _texts(core: Core, chance: random.Random) -> None:
    """texts in memory that steer terminals"""
    nasty = "\x1b]0;\u202e\n\x9b".encode() + b"\xff"
    for text in (b"MPI_COMM_WORLD", b"MPI COMMUNICATOR", b"PMIX_HOSTNAME=", b"MPI_COMM_SELF"):
        for at in list(_in_memory(core, text)):
            start = at + len(text) if text.endswith(b"=") else at
            core.write(start, nasty[: len(text)])


#: What is done, by the seed. Those of ``make test`` come first.
KINDS: Tuple[Callable[[Core, random.Random], Optional[str]], ...] = (
    _irregular_library,
    _large,
    _words,
    _note_sizes,
    _bytes,
    _mapped,
    _sizes,
    _hostile_program,
    _irregular_file,
    _auxiliary,
    _threads,
    _words,
    _counts,
    _hostile_names,
    _damaged_program,
    _overlapping,
    _bytes,
    _cut,
    _texts,
    _head,
    _note_bytes,
    _holes,
    _table,
    _note_order,
    _left_out,
    _words,
)
