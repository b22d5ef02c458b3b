"""What the adapters take from /proc for a process of this machine that their own debugger traces."""

from __future__ import annotations

import socket
from abc import abstractmethod
from typing import List, Optional, Tuple

from ..system import processes
from .base import DebuggedProcess


class TracedProcess(DebuggedProcess):
    """A process under a debugger, which may be one of this machine or lie behind a server."""

    def __init__(self, pid: Optional[int], *, local: bool) -> None:
        self._pid = pid
        self.local = local and pid is not None

    @property
    def pid(self) -> Optional[int]:
        return self._pid

    @property
    def host(self) -> Optional[str]:
        return socket.gethostname() if self.local else None

    @property
    def file_roots(self) -> List[str]:
        # A process in a container names files of its own root. The core compares build-ids and contents before it
        # believes a file that merely has the right name.
        return [f"/proc/{self._pid}/root", "/"] if self.local else ["/"]

    def program_headers(self) -> Optional[Tuple[int, int]]:
        if self.local and self._pid:
            found = processes.program_headers(self._pid, self.pointer_size, self.byte_order)
            if found is not None:
                return found
        return self.program_headers_of_debugger()

    @abstractmethod
    def program_headers_of_debugger(self) -> Optional[Tuple[int, int]]:
        """As :meth:`program_headers`, by the debugger's own means."""

    def environment(self, name: str) -> Optional[str]:
        return processes.environment(self._pid, name) if self.local and self._pid else None

    def has_ended(self) -> bool:
        """Whether it is known to have ended: a debugger lists a process that was killed until it next waits for it."""
        return self.local and processes.has_ended(self._pid or 0)
