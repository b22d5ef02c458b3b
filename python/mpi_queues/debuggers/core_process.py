"""A core file as a :class:`DebuggedProcess`: memory and facts from the file, names and types from the debugger."""

from __future__ import annotations

import contextlib
import os
from typing import List, Optional, Sequence, Tuple

from .. import _native
from ..errors import UserError, as_user_error
from ..system import files
from ..system.paths import shown
from .base import DebuggedProcess, MemoryFault, NamedFrame, ThreadRegisters, TypeDict

#: Where launchers tell a process the name of its host (PMIx: src/include/pmix_common.h; Open MPI's mpirun sets it).
_HOST_VARIABLE = "PMIX_HOSTNAME"


def _opened(path: str) -> _native.CoreFile:
    try:
        return _native.CoreFile(path)
    except _native.NativeError as error:
        raise as_user_error(error) from None


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
        self.reader = files.reader_of_user(self._core.owner) if self._core.owner is not None else None
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

    @property
    def machine(self) -> Optional[str]:
        return self._debugged.machine

    def frames(self) -> List[Tuple[int, int, List[NamedFrame]]]:
        return self._debugged.frames()

    def threads(self, names: Sequence[str]) -> List[ThreadRegisters]:
        return self._debugged.threads(names)
