"""A process of the debugger's interface without a debugger: its memory as it was, copied into this program."""

from __future__ import annotations

import bisect
import os
import pathlib
import socket
import struct
from typing import Any, Dict, List, Optional, Tuple

from mpi_queues.debuggers.base import DebuggedProcess, MemoryFault, StackDict, TypeDict
from mpi_queues.system import mappings

AT_PHDR, AT_PHNUM = 3, 5

#: A mapping that is larger is file data of somebody else, not what an MPI needs.
MAX_MAPPING = 256 << 20


class MockProcess(DebuggedProcess):
    """Memory, files and environment of a stopped process, copied once; ``stacks`` are what the test says they are."""

    via = "mock"
    debugger = "none"

    def __init__(self, pid: int, stacks: List[StackDict]) -> None:
        self._pid = pid
        self._stacks = stacks
        self._executable = str(pathlib.Path(f"/proc/{pid}/exe").readlink())
        self._environment: Dict[str, str] = {}
        for entry in pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            name, _, value = entry.partition(b"=")
            self._environment[os.fsdecode(name)] = os.fsdecode(value)
        vector = pathlib.Path(f"/proc/{pid}/auxv").read_bytes()
        self._auxv = dict(struct.iter_unpack("<QQ", vector))
        self._starts: List[int] = []
        self._bytes: List[bytes] = []
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            for region in mappings.of_process(pid) or []:
                if not region.is_readable or region.length > MAX_MAPPING:
                    continue
                try:
                    content = os.pread(memory.fileno(), region.length, region.start)
                except OSError:
                    # The kernel's own pages ([vvar]).
                    continue
                self._starts.append(region.start)
                self._bytes.append(content)

    @property
    def pid(self) -> Optional[int]:
        return self._pid

    @property
    def host(self) -> Optional[str]:
        return socket.gethostname()

    @property
    def executable(self) -> Optional[str]:
        return self._executable

    @property
    def byte_order(self) -> str:
        return "little"

    @property
    def pointer_size(self) -> int:
        return 8

    @property
    def file_roots(self) -> List[str]:
        return ["/"]

    def read_memory(self, address: int, length: int) -> bytes:
        pieces: List[bytes] = []
        at = address
        while at < address + length:
            index = bisect.bisect_right(self._starts, at) - 1
            start = self._starts[index] if index >= 0 else 0
            piece = self._bytes[index][at - start : address + length - start] if index >= 0 else b""
            if not piece:
                raise MemoryFault(address, length)
            pieces.append(piece)
            at += len(piece)
        return b"".join(pieces)

    def symbol(self, name: str) -> Optional[Tuple[int, Optional[int]]]:
        return None

    def images(self) -> Optional[List[Tuple[str, int]]]:
        return None

    def program_headers(self) -> Optional[Tuple[int, int]]:
        return self._auxv[AT_PHDR], self._auxv[AT_PHNUM]

    def type_layout(self, name: str) -> Optional[TypeDict]:
        return None

    def environment(self, name: str) -> Optional[str]:
        return self._environment.get(name)

    def stacks(self) -> List[StackDict]:
        return self._stacks

    @property
    def stacks_complete(self) -> bool:
        return True


def stacks_of_calls(calls: List[Dict[str, Any]]) -> List[StackDict]:
    """Stacks in which the core finds these calls, and threads outside MPI."""
    told = ("arguments", "arguments_unknown", "fingerprint", "main")
    return [
        {
            "thread": call["thread"],
            "complete": call.get("complete", True),
            "frames": [
                {
                    "function": call["function"],
                    "file": None,
                    "line": None,
                    "application": bool(call.get("application")) and call["caller"] is None,
                    "image": "library",
                },
                *(
                    [
                        {
                            "function": call["caller"],
                            "file": call["file"],
                            "line": call["line"],
                            "application": True,
                            "image": "program",
                        }
                    ]
                    if call["caller"] is not None
                    else []
                ),
            ],
            **{name: call[name] for name in told if name in call},
        }
        for call in calls
    ]
