"""One gdb inferior as a :class:`DebuggedProcess`."""

from __future__ import annotations

import os
import re
from typing import Any, List, Optional, Sequence, Tuple

import gdb

from ..debuggers.base import DebuggerError, MemoryFault, NamedFrame, ProcessGone, ThreadRegisters, TypeDict
from ..debuggers.local import TracedProcess
from ..errors import UserError
from ..system import processes
from . import text as gdb_text
from . import threads as gdb_threads
from . import types as gdb_types
from .inferiors import connection_kind
from .text import text

_SYMBOL = re.compile(r"[A-Za-z_.$][A-Za-z0-9_.$@]*\Z")

#: What `info address` says of symbols with a fixed address (printcmd.c: info_address_command).
_AT_ADDRESS = re.compile(r" at (?:address )?(0x[0-9a-f]+)")

#: A line of `info auxv`: number, name, description, value.
_AUXV_LINE = re.compile(r"^(\d+)\s+AT_\w+\s.*\s(0x[0-9a-fA-F]+|\d+)$", re.MULTILINE)

#: What `info files` says of a core file (corelow.c: core_target::files_info; exec.c: print_section_info).
_CORE_FILE = re.compile(r"^Local core dump file:\n\t`(.*)', file type ", re.MULTILINE)


class GdbProcess(TracedProcess):
    """A stopped inferior, local, behind a gdbserver, or a core file.

    Reads and lookups mean gdb's selected inferior: the caller selects this one around them (``gdb_sessions``).
    """

    def __init__(self, inferior: Any) -> None:
        pid = int(inferior.pid) or None
        kind = connection_kind(inferior)
        super().__init__(pid, local=kind != "core" and pid is not None and _is_traced_by_us(pid))
        self._inferior = inferior
        self.via = "core" if kind == "core" else "gdb"
        self.debugger = f"gdb {gdb.VERSION}"

    @property
    def executable(self) -> Optional[str]:
        name = text(lambda: self._inferior.progspace.filename)
        # gdb marks files that it reads through a remote target.
        return name.removeprefix("target:") or None

    @property
    def byte_order(self) -> str:
        return gdb_types.byte_order()

    @property
    def pointer_size(self) -> int:
        return gdb_types.pointer_size()

    def read_memory(self, address: int, length: int) -> bytes | memoryview:
        try:
            read: memoryview = self._inferior.read_memory(address, length)
        except gdb.MemoryError:
            if not self._alive():
                raise ProcessGone("the process ended while it was read") from None
            raise MemoryFault(address, length) from None
        except OverflowError:
            raise MemoryFault(address, length) from None
        except gdb.error as error:
            if not self._alive():
                raise ProcessGone("the process ended while it was read") from None
            raise DebuggerError(str(error)) from None
        return read

    def symbol(self, name: str) -> Optional[Tuple[int, Optional[int]]]:
        address = symbol_address(name)
        if address is None:
            return None
        known = gdb.lookup_global_symbol(name)
        size = int(known.type.sizeof) if known is not None and known.is_variable and known.type is not None else None
        return address, size or None

    def images(self) -> Optional[List[Tuple[str, int]]]:
        # gdb's objfiles do not tell their load bias; the core walks the dynamic linker's list instead.
        return None

    def program_headers_of_debugger(self) -> Optional[Tuple[int, int]]:
        try:
            told = gdb_text.execute("info auxv")
        except gdb.error:
            return None
        entries = {int(m[1]): int(m[2], 0) for m in _AUXV_LINE.finditer(told)}
        headers, count = entries.get(processes.AT_PHDR), entries.get(processes.AT_PHNUM)
        return (headers, count) if headers and count else None

    def type_layout(self, name: str) -> Optional[TypeDict]:
        try:
            return gdb_types.type_layout(name)
        except gdb.error as error:
            raise DebuggerError(f"gdb cannot describe the type {name}: {error}") from None

    @property
    def machine(self) -> Optional[str]:
        return gdb_threads.machine(self._inferior)

    def threads(self, names: Sequence[str]) -> List[ThreadRegisters]:
        return gdb_threads.threads(self._inferior, names)

    def frames(self) -> List[Tuple[int, int, List[NamedFrame]]]:
        return gdb_threads.frames(self._inferior)

    def _alive(self) -> bool:
        if not self._inferior.is_valid() or int(self._inferior.pid or 0) != (self._pid or 0):
            return False
        return not self.has_ended()


def symbol_address(name: str) -> Optional[int]:
    """Where a variable or function of the selected inferior is; None where there is none of that name."""
    if not _SYMBOL.match(name):
        return None
    try:
        # gdb 13 has no interface to minimal symbols. No expression: in a frame of Fortran a quoted name is a text, and
        # gdb would call the program's malloc to put it into its memory.
        found = _AT_ADDRESS.search(gdb_text.execute(f"info address {name}"))
    except gdb.error:
        return None
    return int(found[1], 16) if found is not None else None


def core_path() -> str:
    """The core file of the selected inferior.

    Raises:
        UserError: where gdb does not name it.
    """
    found = _CORE_FILE.search(gdb_text.execute("info files"))
    if found is None:
        raise UserError("gdb does not say which core file this is", help="type: core-file CORE", kind="no_core")
    return found[1]


def _is_traced_by_us(pid: int) -> bool:
    """Whether this very process traces ``pid``: then it is local, whatever version of gdb this is."""
    return processes.status(pid).get("TracerPid") == str(os.getpid())
