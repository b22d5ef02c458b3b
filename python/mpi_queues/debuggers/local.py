"""What the adapters take from /proc for a process of this machine that their own debugger traces."""

from __future__ import annotations

import socket
from abc import abstractmethod
from typing import Callable, List, Optional, Tuple, Union

from ..system import mappings, processes
from .base import DebuggedProcess, DebuggerError, RegionDict
from .mapped_images import Files, Mistaken
from .running_files import RunningFiles, executable_path

#: More sentences about files than this are not told.
_MAX_REMARKS = 8


class TracedProcess(DebuggedProcess):
    """A process under a debugger, which may be one of this machine or lie behind a server."""

    def __init__(self, pid: Optional[int], *, local: bool) -> None:
        self._pid = pid
        self._local = local and pid is not None
        #: The files that it runs; None where these cannot be known here.
        self.files: Optional[Files] = RunningFiles(pid) if self._local and pid is not None else None
        self._mistaken: Optional[List[Mistaken]] = None
        #: Reads memory instead of the debugger: that of a core file.
        self.memory: Optional[Callable[[int, int], Union[bytes, memoryview]]] = None
        #: User id of whoever's process a core file is; None where the process itself tells.
        self.owner: Optional[int] = None

    @property
    def pid(self) -> Optional[int]:
        return self._pid

    @property
    def local(self) -> bool:
        """Whether the process is one of this machine that the debugger itself traces."""
        return self._local

    @property
    def host(self) -> Optional[str]:
        return socket.gethostname() if self._local else None

    @property
    def executable(self) -> Optional[str]:
        named = executable_path(self._pid) if self._local and self._pid else None
        return named if named is not None else self.executable_of_debugger()

    @abstractmethod
    def executable_of_debugger(self) -> Optional[str]:
        """Path of the executable as the debugger names it."""

    @property
    def file_roots(self) -> List[str]:
        # A process in a container names files of its own root. The core compares build-ids and contents before it
        # believes a file that merely has the right name.
        return [f"/proc/{self._pid}/root", "/"] if self._local else ["/"]

    def other_files(self, path: str, bias: int) -> List[str]:
        files = self.files
        if not isinstance(files, RunningFiles):
            return []
        image = files.image_at_bias(bias)
        found = files.right_file(image) if image is not None else None
        return [found] if found is not None else []

    def forget(self) -> None:
        self._mistaken = None
        if self.files is not None:
            self.files.forget()

    @property
    def mistaken(self) -> List[Mistaken]:
        """The images for which the debugger has another file than the one that runs, or none."""
        if self._mistaken is None:
            self._mistaken = self.find_mistaken(self.files) if self.files is not None else []
        return self._mistaken

    @abstractmethod
    def find_mistaken(self, files: Files) -> List[Mistaken]:
        """As :attr:`mistaken`."""

    def mistaken_at(self, address: int) -> Optional[Mistaken]:
        """The one that has an address: what the debugger says of that place is not true."""
        # Of a core file's libraries some may be on another machine only.
        wrong = self.mistaken if isinstance(self.files, RunningFiles) else self.others
        return next((one for one in wrong if one.image.start <= address < one.image.end), None)

    def library_at(self, address: int) -> Optional[str]:
        image = self.files.image_at(address) if self.files is not None else None
        if image is None or self.files is None or image == self.files.executable():
            return None
        return image.name

    def is_in_program(self, address: int) -> bool:
        image = self.files.executable() if self.files is not None else None
        return image is not None and image.start <= address < image.end

    @property
    def others(self) -> List[Mistaken]:
        """Those for which it has another file."""
        return [one for one in self.mistaken if one.path is not None]

    def remarks(self) -> List[str]:
        told = [one for one in self.mistaken if one.path is not None or one.is_executable]
        attached = isinstance(self.files, RunningFiles)
        return [one.sentence(attached=attached) for one in told[:_MAX_REMARKS]]

    def check_place(self, address: int) -> None:
        """Sees to it that a symbol at this place is one of a file that runs.

        Raises:
            DebuggerError: that names the file.
        """
        wrong = next((one for one in self.others if one.image.start <= address < one.image.end), None)
        if wrong is not None:
            raise DebuggerError(str(wrong))

    def program_headers(self) -> Optional[Tuple[int, int]]:
        if self._local and self._pid:
            found = processes.program_headers(self._pid, self.pointer_size, self.byte_order)
            if found is not None:
                return found
        return self.program_headers_of_debugger()

    @abstractmethod
    def program_headers_of_debugger(self) -> Optional[Tuple[int, int]]:
        """As :meth:`program_headers`, by the debugger's own means."""

    def environment(self, name: str) -> Optional[str]:
        return processes.environment(self._pid, name) if self._local and self._pid else None

    def memory_regions(self) -> Optional[List[RegionDict]]:
        listed = mappings.of_process(self._pid) if self._local and self._pid else None
        if listed is None:
            return None
        return [
            {
                "start": one.start,
                "end": one.end,
                "readable": one.is_readable,
                "writable": one.is_writable,
                "shared": one.is_shared,
                "name": one.name.decode(errors="backslashreplace"),
            }
            for one in listed
        ]

    def has_ended(self) -> bool:
        """Whether it is known to have ended: a debugger lists a process that was killed until it next waits for it."""
        return self._local and processes.has_ended(self._pid or 0)
