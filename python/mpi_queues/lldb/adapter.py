"""One lldb process as a :class:`DebuggedProcess`."""

from __future__ import annotations

import contextlib
import os
import re
from typing import Any, List, Optional, Tuple

import lldb

from ..debuggers import base
from ..debuggers.base import DebuggerError, MemoryFault, ProcessGone, StackDict, TypeDict
from ..debuggers.kept_files import plain_path
from ..debuggers.local import TracedProcess
from ..debuggers.mapped_images import Files, Mistaken
from ..errors import UserError
from ..system import processes
from . import files as lldb_files
from . import stacks as lldb_stacks
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
        # Closed by __del__, also where what follows fails.
        self._memory: Optional[int] = None
        pid = int(process.GetProcessID()) or None
        plugin = str(process.GetPluginName() or "")
        core = plugin.endswith("-core") or plugin == "minidump"
        super().__init__(pid, local=not core and pid is not None and _is_traced_by_our_child(pid))
        self._process = process
        self._target = process.GetTarget()
        self.via = "core" if core else "lldb"
        self.debugger = f"lldb {version()}"
        self._stacks = lldb_stacks.Stacks(process)
        self._stacks_complete = False

    def __del__(self) -> None:
        self._close()

    def forget(self) -> None:
        """Closes the process's memory: another program may run in it by the next stop (exec)."""
        super().forget()
        self._close()

    def _close(self) -> None:
        opened, self._memory = self._memory, None
        if opened is not None:
            os.close(opened)

    def executable_of_debugger(self) -> Optional[str]:
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
        if self.memory is not None:
            return self.memory(address, length)
        if base.wants_interrupt() or self.out_of_time():
            raise KeyboardInterrupt
        if self._local:
            read = self._pread(address, length)
            if read is not None:
                return read
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

    def stack_pointers(self) -> Optional[List[int]]:
        found = [int(thread.GetFrameAtIndex(0).GetSP()) for thread in self._process]
        return None if lldb.LLDB_INVALID_ADDRESS in found else found

    def code_place(self, address: int) -> Optional[Tuple[Optional[str], Optional[str], Optional[int]]]:
        return lldb_stacks.code_place(self._target, address)

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
            self.check_place(int(address))
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
        # Where one file is not the one that runs, which file tells of a type is not known.
        return None if self.others else lldb_types.type_layout(self._target, name)

    def find_mistaken(self, files: Files) -> List[Mistaken]:
        return lldb_files.mistaken(self._target, files)

    def stacks(self) -> List[StackDict]:
        found, self._stacks_complete = self._stacks.read(self)
        return found

    @property
    def stacks_complete(self) -> bool:
        return self._stacks_complete

    def _pread(self, address: int, length: int) -> Optional[bytes]:
        """Memory of a local process from /proc, None where that does not give all of it.

        lldb's own way is a packet to its server and back for each page, which takes ten times as long. Instructions
        that lldb has replaced by breakpoints are seen as they are; nothing that we read is code.
        """
        try:
            if self._memory is None:
                self._memory = os.open(f"/proc/{self._pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
            read = os.pread(self._memory, length, address)
        except (OSError, OverflowError):
            return None
        return read if len(read) == length else None

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
            "this lldb does not tell which core file it has open",
            help="use lldb 18 or later, or type in a shell: mpi-queues show --core CORE --exe EXE",
            kind="no_core",
        )
    return plain_path(str(path))


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
