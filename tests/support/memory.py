"""Changes the memory of a test's own rank, to see what a reader makes of damage."""

from __future__ import annotations

import contextlib
import os
import re
import struct
import subprocess
from pathlib import Path
from typing import Dict, Iterator

POINTER = struct.Struct("<Q")


def peek(pid: int, address: int, length: int) -> bytes:
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        return os.pread(memory.fileno(), length, address)


def peek_pointer(pid: int, address: int) -> int:
    value: int = POINTER.unpack(peek(pid, address, POINTER.size))[0]
    return value


def address_of_name(pid: int, communicator: int, name: str) -> int:
    """Where the name of one of Open MPI's communicators lies, whose structure begins there.

    In the structure itself, and since 5.0 where a pointer in it leads (``c_name``, ompi/communicator/communicator.h).
    """
    wanted = name.encode() + b"\0"
    structure = peek(pid, communicator, 512)
    inside = structure.find(wanted)
    if inside >= 0:
        return communicator + inside
    for (pointer,) in POINTER.iter_unpack(structure):
        with contextlib.suppress(OSError, OverflowError):
            if peek(pid, pointer, len(wanted)) == wanted:
                return int(pointer)
    raise AssertionError(f"no name {name} at {communicator:#x} of process {pid}")


@contextlib.contextmanager
def poked(pid: int, address: int, data: bytes) -> Iterator[None]:
    """The process has these bytes there for a while; it must not run MPI meanwhile (pause() does not)."""
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
        before = os.pread(memory.fileno(), len(data), address)
        os.pwrite(memory.fileno(), data, address)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                os.pwrite(memory.fileno(), before, address)


def symbol(pid: int, name: str) -> int:
    """The address of a dynamic symbol that one of the process's libraries defines."""
    bases: Dict[str, int] = {}
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and re.search(r"lib(mpi|open-pal|open-rte)\.so", fields[5]) and int(fields[2], 16) == 0:
            bases.setdefault(fields[5], int(fields[0].split("-")[0], 16))
    for library, base in bases.items():
        out = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
        for line in out.splitlines():
            address, _, rest = line.partition(" ")
            if rest[2:].split("@")[0] == name:
                return base + int(address, 16)
    raise AssertionError(f"no library of process {pid} defines {name}")
