"""A core file as a :class:`DebuggedProcess`: memory and facts from the file, names and types from the debugger."""

from __future__ import annotations

import contextlib
import os
import platform
from typing import List, Optional, Tuple

from .. import _native
from ..errors import UserError, as_user_error
from ..system import files
from ..system.paths import shown
from . import system_calls
from .base import DebuggedProcess, DebuggerError, MemoryFault, RegionDict, StackDict, TypeDict
from .local import TracedProcess
from .mapped_images import Files, Image, Mapping

#: Where launchers tell a process the name of its host (PMIx: src/include/pmix_common.h; Open MPI's mpirun sets it).
_HOST_VARIABLE = "PMIX_HOSTNAME"


def checked_core(core: str, exe: Optional[str]) -> Tuple[str, str]:
    """Absolute paths of a core file and of the program that dumped it, after a look at both.

    Raises:
        UserError: that names what does not fit, and what to type.
    """
    try:
        return os.path.abspath(core), os.path.abspath(_native.checked_core(core, exe))
    except _native.NativeError as error:
        raise as_user_error(error) from None


def _opened(path: str) -> _native.CoreFile:
    try:
        return _native.CoreFile(path)
    except _native.NativeError as error:
        raise as_user_error(error) from None


class CoreFiles(Files):
    """The files that the process of a core file had mapped."""

    def __init__(self, core: _native.CoreFile) -> None:
        super().__init__()
        self._core = core

    def mappings(self) -> List[Mapping]:
        return [Mapping(start, end, code, offset, 0, name) for start, end, code, offset, name in self._core.mappings()]

    def read(self, address: int, length: int) -> bytes:
        try:
            return self._core.read_held(address, length)
        except (DebuggerError, OverflowError):
            return b""

    def program_headers(self) -> Optional[int]:
        found = self._core.program_headers
        return found[0] if found is not None else None

    def differs(self, image: Image, path: str) -> bool:
        # Nothing says so.
        return False


class CoreProcess(DebuggedProcess):
    """What a debugger has of a core file, but for memory that the file does not hold."""

    via = "core"

    def __init__(self, path: str, debugged: DebuggedProcess) -> None:
        """``debugged`` is the same core file as the debugger shows it.

        Raises:
            UserError: where the file cannot be read, or another program than the debugger's dumped it.
        """
        self._path = path
        self._core = _opened(path)
        self.core = self._core
        self._debugged = debugged
        self.debugger = debugged.debugger
        self._files = CoreFiles(self._core)
        if isinstance(debugged, TracedProcess):
            # Debuggers answer zeros for what is not in the file, and know no code that only its program has.
            debugged.memory, debugged.files = self.read_memory, self._files
            debugged.owner = self._core.owner
        self._executable = self._checked_executable()

    def _checked_executable(self) -> Optional[str]:
        own, named = self._debugged.executable, self._core.executable
        if own is None:
            return named
        with contextlib.suppress(OSError):
            if not self._core.is_program(own):
                raise UserError(
                    f"{shown(self._path)}: was not dumped by {shown(own)}"
                    + (f", but by {shown(named)}" if named is not None else ""),
                    help=f"load the program that dumped it, type: file {shown(named or 'EXE')}",
                    kind="wrong_exe",
                )
        return named if named is not None and files.is_there(named) else own

    @property
    def pid(self) -> Optional[int]:
        return self._core.pid

    @property
    def host(self) -> Optional[str]:
        return self.environment(_HOST_VARIABLE)

    @property
    def executable(self) -> Optional[str]:
        return self._executable

    @property
    def byte_order(self) -> str:
        return self._debugged.byte_order

    @property
    def pointer_size(self) -> int:
        return self._debugged.pointer_size

    @property
    def file_roots(self) -> List[str]:
        # The core compares contents before it believes a file that merely has the right name.
        return ["/"]

    def other_files(self, path: str, bias: int) -> List[str]:
        # A path that is no UTF-8 comes back in words.
        image = self._files.image_at_bias(bias)
        return [image.name] if image is not None else []

    def remarks(self) -> List[str]:
        return self._debugged.remarks()

    def forget(self) -> None:
        self._debugged.forget()

    def read_memory(self, address: int, length: int) -> bytes:
        if self.out_of_time():
            raise KeyboardInterrupt
        try:
            return self._core.read(address, length)
        except OverflowError:
            raise MemoryFault(address, length) from None

    def symbol(self, name: str) -> Optional[Tuple[int, Optional[int]]]:
        return self._debugged.symbol(name)

    def images(self) -> Optional[List[Tuple[str, int]]]:
        return self._debugged.images()

    def program_headers(self) -> Optional[Tuple[int, int]]:
        return self._core.program_headers

    def type_layout(self, name: str) -> Optional[TypeDict]:
        return self._debugged.type_layout(name)

    def environment(self, name: str) -> Optional[str]:
        found = self._core.environment(os.fsencode(name))
        return found.decode("utf-8", "backslashreplace") if found is not None else None

    def stacks(self) -> List[StackDict]:
        stacks = self._debugged.stacks()
        for stack in stacks:
            if stack.get("system_call") is None and "kernel_thread" in stack:
                registers = self._core.call_registers(stack["kernel_thread"])
                stack["system_call"] = system_calls.of_registers(platform.machine(), registers.get)
        if not self._core.holds_stacks:
            # A debugger that reads zeros there takes them for the end of the stack.
            return [{**stack, "complete": False} for stack in stacks]
        return stacks

    @property
    def stacks_complete(self) -> bool:
        return self._debugged.stacks_complete

    def memory_regions(self) -> Optional[List[RegionDict]]:
        return self._core.regions()
