"""Core files of the ranks of a job, whole ones and some that lack a part."""

from __future__ import annotations

import os
import pathlib
import signal
import struct
import subprocess
from typing import Callable, Iterator, NamedTuple

from . import processes

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_PT_LOAD = 1


def gcore(pid: int, path: pathlib.Path) -> pathlib.Path:
    """gdb's dump of a process, which goes on."""
    run = subprocess.run(
        ["gcore", "-o", str(path), str(pid)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        # The path may be no UTF-8.
        errors="replace",
        check=False,
    )
    made = path.with_name(f"{path.name}.{pid}")
    assert made.exists(), run.stdout + run.stderr
    return made


def kernel_core(
    pid: int, directory: pathlib.Path, number: signal.Signals = signal.SIGSYS, limit: str = "unlimited"
) -> pathlib.Path:
    """The kernel's own dump, of ``limit`` bytes at most; it ends the process, whose working directory is ``directory``.
    Open MPI leaves the signal alone that is the default."""
    subprocess.run(["prlimit", "--pid", str(pid), f"--core={limit}"], check=True)
    os.kill(pid, number)
    processes.wait_until(lambda: processes.state(pid) in ("Z", None), f"the end of {pid}")
    (made,) = directory.glob("core*")
    return made


#: Where the kernel hands dumps to a program instead, there is no file to be had.
KERNEL_WRITES_FILES = "/" not in pathlib.Path("/proc/sys/kernel/core_pattern").read_text() and not (
    pathlib.Path("/proc/sys/kernel/core_pattern").read_text().startswith("|")
)


class Segment(NamedTuple):
    """One program header of a core file."""

    #: Where the header stands in the file.
    at: int
    address: int
    offset: int
    held: int
    size: int


def segments(core: pathlib.Path) -> Iterator[Segment]:
    """The memory that a core file tells of."""
    content = core.read_bytes()
    _, _, _, _, _, table, _, _, _, width, count, _, _, _ = _HEADER.unpack_from(content)
    for index in range(count):
        at = table + index * width
        kind, _, offset, address, _, held, size, _ = _SEGMENT.unpack_from(content, at)
        if kind == _PT_LOAD:
            yield Segment(at, address, offset, held, size)


def leave_out(core: pathlib.Path, wanted: Callable[[Segment], bool]) -> int:
    """Makes a core file as the kernel makes it where the filter leaves memory out: the segments are there without
    bytes. Returns how many it were."""
    found = [segment for segment in segments(core) if wanted(segment)]
    with core.open("r+b") as file:
        for segment in found:
            # `p_filesz`.
            file.seek(segment.at + 32)
            file.write(struct.pack("<Q", 0))
    return len(found)


def mapped(pid: int, name: str) -> range:
    """The addresses of the first mapping of this name."""
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        if line.endswith(name):
            start, _, end = line.split()[0].partition("-")
            return range(int(start, 16), int(end, 16))
    raise AssertionError(f"{pid} has no mapping {name}")
