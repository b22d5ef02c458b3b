"""One lldb process as a :class:`DebuggedProcess`."""

from __future__ import annotations

import contextlib
import os
import re
from typing import Any, List, Optional, Sequence, Tuple

import lldb

from ..debuggers import base
from ..debuggers.base import DebuggerError, MemoryFault, ProcessGone, ThreadRegisters, TypeDict
from ..debuggers.local import TracedProcess
from ..errors import UserError
from ..system import processes
from . import threads as lldb_threads
from . import types as lldb_types

_SYMBOL = re.compile(r"[A-Za-z_.$][A-Za-z0-9_.$@]*\Z")

#: The states in which a process keeps still (lldb's own StateIsStoppedState, source/Utility/State.cpp).
STOPPED = (lldb.eStateStopped, lldb.eStateCrashed, lldb.eStateSuspended)
#: The states in which there is a process at all.
ALIVE = (*STOPPED, lldb.eStateRunning, lldb.eStateStepping)

_ELF_MAGIC = b"\x7fELF"


class LldbProcess(TracedProcess):
    """A stopped process of lldb, local, behind a server, or a core file."""

    def __init__(self, process: Any) -> None:
        pid = int(process.GetProcessID()) or None
        plugin = str(process.GetPluginName() or "")
        core = plugin.endswith("-core") or plugin == "minidump"
        super().__init__(pid, local=not core and pid is not None and _is_traced_by_our_child(pid))
        self._process = process
        self._target = process.GetTarget()
        self.via = "core" if core else "lldb"
        self.debugger = f"lldb {version()}"

    def out_of_time(self) -> bool:
        # Ctrl-C is no signal that Python sees here.
        return base.wants_interrupt() or super().out_of_time()

    @property
    def executable(self) -> Optional[str]:
        # How the target names the file; lldb's own copy of a remote one lies elsewhere.
        module = self._main_module()
        name = module.GetPlatformFileSpec().fullpath or module.GetFileSpec().fullpath if module is not None else None
        return str(name) if name else None

    @property
    def byte_order(self) -> str:
        return "big" if self._process.GetByteOrder() == lldb.eByteOrderBig else "little"

    @property
    def pointer_size(self) -> int:
        return int(self._process.GetAddressByteSize())

    def read_memory(self, address: int, length: int) -> bytes | memoryview:
        if self.out_of_time():
            raise KeyboardInterrupt
        error = lldb.SBError()
        try:
            content = self._process.ReadMemory(address, length, error)
        except (OverflowError, TypeError, ValueError):
            # An address or length that lldb's interface cannot express.
            raise MemoryFault(address, length) from None
        if error.Success() and content is not None and len(content) == length:
            return bytes(content)
        if not self._alive():
            raise ProcessGone("the process ended while it was read")
        raise MemoryFault(address, length)

    def symbol(self, name: str) -> Optional[Tuple[int, Optional[int]]]:
        if not _SYMBOL.match(name):
            return None
        local = None
        for context in self._target.FindSymbols(name):
            symbol = context.GetSymbol()
            # lldb also finds the undefined symbols of the libraries that merely use it.
            if symbol.GetType() == lldb.eSymbolTypeUndefined:
                continue
            address = symbol.GetStartAddress().GetLoadAddress(self._target)
            if address == lldb.LLDB_INVALID_ADDRESS:
                continue
            # Sizes that a symbol table does not state are lldb's guesses, and it does not tell which are.
            if symbol.IsExternal():
                return int(address), None
            local = local or int(address)
        return (local, None) if local is not None else None

    def images(self) -> Optional[List[Tuple[str, int]]]:
        if not self._target.GetNumModules():
            raise DebuggerError("lldb has no program for this process; type: target create PROGRAM, then connect again")
        # The core walks the dynamic linker's list, as under every debugger: lldb also lists files that are not loaded.
        return None

    def type_layout(self, name: str) -> Optional[TypeDict]:
        return lldb_types.type_layout(self._target, name)

    @property
    def machine(self) -> Optional[str]:
        return lldb_threads.machine(self._target)

    def threads(self, names: Sequence[str]) -> List[ThreadRegisters]:
        return lldb_threads.threads(self._process, names)

    def _main_module(self) -> Any:
        executable = self._target.GetExecutable()
        module = self._target.FindModule(executable) if executable.IsValid() else None
        if module is not None and module.IsValid():
            return module
        first = self._target.GetModuleAtIndex(0)
        return first if first.IsValid() else None

    def program_headers_of_debugger(self) -> Optional[Tuple[int, int]]:
        """The program headers that the ELF header of the executable names (System V ABI, Elf64_Ehdr and Elf32_Ehdr).

        lldb has no interface to the auxiliary vector.
        """
        module = self._main_module()
        if module is None:
            return None
        start = module.GetObjectFileHeaderAddress().GetLoadAddress(self._target)
        if start == lldb.LLDB_INVALID_ADDRESS:
            return None
        offset_at, offset_size, count_at = (32, 8, 56) if self.pointer_size == 8 else (28, 4, 44)
        try:
            header = bytes(self.read_memory(start, 64))
        except DebuggerError:
            return None
        if not header.startswith(_ELF_MAGIC):
            return None
        big = self.byte_order == "big"
        offset = int.from_bytes(header[offset_at : offset_at + offset_size], "big" if big else "little")
        count = int.from_bytes(header[count_at : count_at + 2], "big" if big else "little")
        return (int(start) + offset, count) if offset and count else None

    def _alive(self) -> bool:
        if not self._process.IsValid() or self._process.GetState() not in ALIVE:
            return False
        return not self.has_ended()


def core_path(process: Any) -> str:
    """The core file of a process.

    Raises:
        UserError: where lldb does not name it.
    """
    # SBProcess.GetCoreFile came with LLDB 18.
    path = process.GetCoreFile().fullpath if hasattr(process, "GetCoreFile") else None
    if not path:
        raise UserError(
            "this lldb does not say which core file it has open",
            help="use lldb 18 or later, or type in a shell: mpi-queues show --core CORE --exe EXE",
            kind="no_core",
        )
    return str(path)


def said(error: Any) -> str:
    """What lldb says of an error."""
    return str(error.GetCString() or "it does not say why")


def version() -> str:
    """The number of lldb's version, such as ``19.1.7``."""
    found = re.search(r"(?<![\d.])\d+(?:\.\d+)+", str(lldb.SBDebugger.GetVersionString()))
    return found[0] if found else "of unknown version"


def _is_traced_by_our_child(pid: int) -> bool:
    """Whether a child of this very process traces ``pid``: lldb reads local processes by a server that it starts."""
    tracer = processes.status(pid).get("TracerPid", "0")
    with contextlib.suppress(ValueError):
        return tracer != "0" and processes.status(int(tracer)).get("PPid") == str(os.getpid())
    return False
