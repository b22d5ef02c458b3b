"""A core file as a :class:`DebuggedProcess`: memory and facts from the file, names and types from the debugger."""

from __future__ import annotations

import contextlib
import os
from typing import List, Optional, Tuple

from ..errors import UserError
from .base import DebuggedProcess, NotInCore, RegionDict, StackDict, TypeDict
from .core_file import CoreFile
from .core_mapped import MappedFiles
from .core_program import is_program

#: Where launchers tell a process the name of its host (PMIx: src/include/pmix_common.h; Open MPI's mpirun sets it).
_HOST_VARIABLE = "PMIX_HOSTNAME"


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
        self._executable = self._checked_executable()

    def _checked_executable(self) -> Optional[str]:
        own, named = self._debugged.executable, self._core.executable
        if own is None:
            return named
        with contextlib.suppress(OSError):
            if not is_program(self._core, own):
                raise UserError(
                    f"{self._core.path}: was not dumped by {own}" + (f", but by {named}" if named is not None else ""),
                    help=f"load the program that dumped it, type: file {named or 'EXE'}",
                    kind="wrong_exe",
                )
        return named if named is not None and os.path.exists(named) else own

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
        if not self._core.holds_stacks:
            # A debugger that reads zeros there takes them for the end of the stack.
            return [{**stack, "complete": False} for stack in stacks]
        return stacks

    @property
    def stacks_complete(self) -> bool:
        return self._debugged.stacks_complete

    def memory_regions(self) -> Optional[List[RegionDict]]:
        return self._core.regions()
