"""A process of the debugger's interface without a debugger: its memory as it was, copied into this program."""

from __future__ import annotations

import bisect
import contextlib
import os
import pathlib
import platform
import signal
import socket
import struct
from typing import Dict, Iterator, List, Optional, Sequence, Tuple

from mpi_queues.debuggers.base import DebuggedProcess, MemoryFault, ThreadRegisters, TypeDict
from mpi_queues.system import mappings

from . import processes

AT_PHDR, AT_PHNUM = 3, 5

#: A mapping that is larger is file data of somebody else, not what an MPI needs.
MAX_MAPPING = 256 << 20


class MockProcess(DebuggedProcess):
    """Memory, files, environment and threads of a stopped process, copied once."""

    via = "mock"
    debugger = "none"

    def __init__(self, pid: int) -> None:
        self._pid = pid
        tasks = {int(task.name): task for task in pathlib.Path(f"/proc/{pid}/task").iterdir()}
        # The main thread has the process's number.
        self._threads = {
            number: _registers(tasks[number]) for number in sorted(tasks, key=lambda one: (one != pid, one))
        }
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

    @property
    def machine(self) -> Optional[str]:
        return platform.machine()

    def threads(self, names: Sequence[str]) -> List[ThreadRegisters]:
        wanted = ({name: held[name] for name in names if name in held} for held in self._threads.values())
        return [ThreadRegisters(number, *told) for number, told in enumerate(zip(self._threads, wanted), 1)]


@contextlib.contextmanager
def stopped(*pids: int) -> Iterator[None]:
    """Has processes stand still, all their threads."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        processes.wait_until(lambda: all({*processes.thread_states(pid)} == {"T"} for pid in pids), "all to stop")
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def _registers(task: pathlib.Path) -> Dict[str, int]:
    """What the kernel tells of a thread of x86-64 that stands (proc(5), syscall); nothing of one that runs."""
    call, *words = (task / "syscall").read_text().split()
    numbers = [int(word, 16) for word in words]
    arguments = ("rdi", "rsi", "rdx", "r10", "r8", "r9") if len(numbers) > 2 else ()
    return {"orig_rax": int(call) & (1 << 64) - 1, **dict(zip((*arguments, "rsp", "rip"), numbers))} if numbers else {}
