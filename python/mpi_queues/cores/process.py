"""A core file as a :class:`DebuggedProcess`: memory and facts from the file, names and types from the debugger."""

from __future__ import annotations

import contextlib
import os
import platform
from typing import List, Optional, Tuple

from ..debuggers import system_calls
from ..debuggers.base import DebuggedProcess, DebuggerError, NotInCore, RegionDict, StackDict, TypeDict
from ..debuggers.local import TracedProcess
from ..debuggers.mapped_images import Files, Image, Mapping
from ..errors import UserError
from ..system.paths import shown
from .file import CoreFile
from .mapped import MappedFiles
from .program import is_program

#: Where launchers tell a process the name of its host (PMIx: src/include/pmix_common.h; Open MPI's mpirun sets it).
_HOST_VARIABLE = "PMIX_HOSTNAME"


class CoreFiles(Files):
    """The files that the process of a core file had mapped."""

    def __init__(self, core: CoreFile) -> None:
        super().__init__()
        self._core = core

    def mappings(self) -> List[Mapping]:
        return [
            Mapping(one.start, one.end, self._core.is_code(one.start), one.offset, 0, os.fsencode(one.name))
            for one in self._core.mappings
        ]

    def read(self, address: int, length: int) -> bytes:
        try:
            return self._core.read(address, length)
        except DebuggerError:
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
        self._core = CoreFile(path)
        self._mapped = MappedFiles(self._core)
        self._debugged = debugged
        self.debugger = debugged.debugger
        self._files = CoreFiles(self._core)
        if isinstance(debugged, TracedProcess):
            # Debuggers answer zeros for what is not in the file, and know no code that only its program has.
            debugged.memory, debugged.files = self.read_memory, self._files
            debugged.owner = self.owner
        self._executable = self._checked_executable()

    def _checked_executable(self) -> Optional[str]:
        own, named = self._debugged.executable, self._core.executable
        if own is None:
            return named
        with contextlib.suppress(OSError):
            if not is_program(self._core, own):
                raise UserError(
                    f"{shown(self._core.path)}: was not dumped by {shown(own)}"
                    + (f", but by {shown(named)}" if named is not None else ""),
                    help=f"load the program that dumped it, type: file {shown(named or 'EXE')}",
                    kind="wrong_exe",
                )
        return named if named is not None and os.path.exists(named) else own

    @property
    def owner(self) -> Optional[int]:
        """Whose process it was: whose the file is, or else who it says; None where neither tells."""
        return self._core.owner or self._core.user

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

    def read_memory(self, address: int, length: int) -> bytes | memoryview:
        pieces = []
        at, end = address, address + length
        if self.out_of_time():
            raise KeyboardInterrupt
        while at < end:
            try:
                pieces.append(self._core.read(at, end - at))
                break
            except NotInCore as error:
                # The file holds what lies before it.
                if error.address > at:
                    pieces.append(self._core.read(at, error.address - at))
                constants = self._mapped.read(error.address, error.length)
                if constants is None:
                    raise
                pieces.append(constants)
                at = error.address + len(constants)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def symbol(self, name: str) -> Optional[Tuple[int, Optional[int]]]:
        return self._debugged.symbol(name)

    def images(self) -> Optional[List[Tuple[str, int]]]:
        return self._debugged.images()

    def program_headers(self) -> Optional[Tuple[int, int]]:
        return self._core.program_headers

    def type_layout(self, name: str) -> Optional[TypeDict]:
        return self._debugged.type_layout(name)

    def environment(self, name: str) -> Optional[str]:
        wanted = os.fsencode(name) + b"="
        for entry in self._core.environment():
            if entry.startswith(wanted):
                return entry[len(wanted) :].decode("utf-8", "backslashreplace")
        return None

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
