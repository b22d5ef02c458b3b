"""The format of a Linux core file: its segments, and the notes that tell of the process.

ELF(5), core(5). The notes are written by fs/binfmt_elf.c of Linux, and alike by gdb's gcore.
"""

from __future__ import annotations

import platform
import struct
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

from ..errors import UserError
from ..system.paths import shown

ELF_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
PROGRAM_HEADER = struct.Struct("<IIQQQQQQ")
#: Kinds of segments, and their flags.
PT_LOAD, PT_NOTE = 1, 4
READABLE, WRITABLE, EXECUTABLE = 4, 2, 1
#: Entries of the auxiliary vector.
AT_PHDR, AT_PHNUM, AT_ENTRY, AT_EXECFN = 3, 5, 9, 31
#: More notes than this (64 MiB) are of no process that we read.
MAX_NOTES = 1 << 26

_NOTE = struct.Struct("<III")
_MAPPING = struct.Struct("<QQQ")
_PAIR = struct.Struct("<QQ")
_ET_CORE = 4
_NT_PRSTATUS, _NT_PRPSINFO, _NT_AUXV, _NT_FILE = 1, 3, 6, 0x46494C45
#: Where `pr_pid` lies in `struct elf_prpsinfo` of a 64-bit Linux (include/linux/elfcore.h).
_PRPSINFO_PID = 24
#: The same of `pr_uid`.
_PRPSINFO_UID = 16
#: Where the stack pointer lies in `struct elf_prstatus`: registers begin at 112 (include/uapi/linux/elfcore.h), in the
#: order of `struct user_regs_struct`, of which x86-64's has rsp at 19 and AArch64's sp at 31.
_PRSTATUS_SP = 112 + 8 * (31 if platform.machine() == "aarch64" else 19)
#: Where it has the thread's number, and where x86-64's registers lie that tell of a system call, by their names.
_PRSTATUS_PID = 32
_PRSTATUS_CALL = {"r10": 112 + 8 * 7, "rax": 112 + 8 * 10, "rsi": 112 + 8 * 13, "orig_rax": 112 + 8 * 15}

#: `e_machine` of the machines that a core may be of, by what uname calls them.
_MACHINES = {62: "x86_64", 183: "aarch64"}
#: `e_phnum` where there are more segments than it can tell; their number then stands in the first section header.
_MANY = 0xFFFF
_MAX_SEGMENTS = 1 << 20

#: Reads at most so many bytes at an offset of the file.
Read = Callable[[int, int], bytes]


class Segment(NamedTuple):
    """Memory of the process; the first ``held`` bytes of it are in the file."""

    start: int
    end: int
    offset: int
    held: int
    flags: int


class Mapping(NamedTuple):
    """A file that was mapped, whether its memory is in the core or not."""

    start: int
    end: int
    #: In the file, in bytes.
    offset: int
    name: str


class Notes:
    """What the notes tell of the process.

    Attributes:
        pid: process id on its host; None where they do not tell.
        user: its user; None where they do not tell.
        auxiliary: the auxiliary vector, AT_… numbers to values.
        vector: the same as it lies in memory.
        stack_pointers: of each thread.
        call_registers: by the kernel's number of a thread, what tells of its system call; of x86-64 only.
        mappings: the files that were mapped, by address.
    """

    def __init__(self, notes: bytes) -> None:
        self.pid: Optional[int] = None
        self.user: Optional[int] = None
        self.auxiliary: Dict[int, int] = {}
        self.vector = b""
        self.stack_pointers: List[int] = []
        self.call_registers: Dict[int, Dict[str, int]] = {}
        self.mappings: List[Mapping] = []
        at = 0
        while at + _NOTE.size <= len(notes):
            name_size, size, kind = _NOTE.unpack_from(notes, at)
            start = at + _NOTE.size + (name_size + 3) // 4 * 4
            content = notes[start : start + size]
            at = start + (size + 3) // 4 * 4
            if len(content) < size:
                return
            self._take(kind, content)

    def _take(self, kind: int, content: bytes) -> None:
        size = len(content)
        if kind == _NT_AUXV:
            self.vector = content
            self.auxiliary = dict(_PAIR.iter_unpack(content[: size // _PAIR.size * _PAIR.size]))
        elif kind == _NT_PRPSINFO and size >= _PRPSINFO_PID + 4:
            self.user = int.from_bytes(content[_PRPSINFO_UID : _PRPSINFO_UID + 4], "little")
            self.pid = int.from_bytes(content[_PRPSINFO_PID : _PRPSINFO_PID + 4], "little") or None
        elif kind == _NT_PRSTATUS and size >= _PRSTATUS_SP + 8:
            self.stack_pointers.append(int.from_bytes(content[_PRSTATUS_SP : _PRSTATUS_SP + 8], "little"))
            if platform.machine() == "x86_64":
                thread = int.from_bytes(content[_PRSTATUS_PID : _PRSTATUS_PID + 4], "little")
                self.call_registers[thread] = {
                    name: int.from_bytes(content[at : at + 8], "little") for name, at in _PRSTATUS_CALL.items()
                }
        elif kind == _NT_FILE:
            self.mappings = sorted(_mappings(content))


def _mappings(note: bytes) -> List[Mapping]:
    """The files of an NT_FILE note: their number, the page size, the addresses, the names."""
    count, page = int.from_bytes(note[:8], "little"), int.from_bytes(note[8:16], "little")
    addresses = note[16 : 16 + count * _MAPPING.size] if count <= len(note) else b""
    if len(addresses) < count * _MAPPING.size:
        return []
    names = note[16 + len(addresses) :].split(b"\0")
    return [
        Mapping(start, end, pages * page, name.decode("utf-8", "surrogateescape"))
        for (start, end, pages), name in zip(_MAPPING.iter_unpack(addresses), names)
    ]


def program_headers(path: str, read: Read) -> List[Tuple[int, ...]]:
    """The program headers (``Elf64_Phdr``) of the core file at ``path``.

    Raises:
        UserError: where it is no core file of a program of this kind of machine.
    """
    content = read(0, ELF_HEADER.size)
    if len(content) < ELF_HEADER.size or not content.startswith(b"\x7fELF"):
        raise UserError(
            f"{shown(path)}: not a core file", help=f"to see what it is, type: file {shown(path)}", kind="not_core"
        )
    ident, kind, machine, _, _, at, sections, _, _, size, count, _, _, _ = ELF_HEADER.unpack(content)
    wanted = platform.machine()
    name = _MACHINES.get(machine, f"machine {machine}") if ident[4:6] == b"\x02\x01" else "another architecture"
    if name != wanted:
        raise UserError(
            f"{shown(path)}: a file of {name}, and this machine is {wanted}",
            help="read it on a machine of its own kind",
            kind="not_core",
        )
    if kind != _ET_CORE:
        raise UserError(
            f"{shown(path)}: a program or library, not a core file",
            help="name the core file with --core and the program with --exe",
            kind="not_core",
        )
    if count == _MANY:
        # `sh_info` of the first section header.
        count = int.from_bytes(read(sections + 44, 4), "little")
    if size != PROGRAM_HEADER.size or not 0 < count <= _MAX_SEGMENTS:
        raise UserError(f"{shown(path)}: a damaged core file: it has no memory segments", kind="not_core")
    table = read(at, count * size)
    return list(PROGRAM_HEADER.iter_unpack(table[: len(table) // size * size]))
