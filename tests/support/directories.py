"""Jobs of tests/programs/mpi2dd.c, which tell of themselves by the MPI2DD interface."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import platform
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Dict, Iterator, List

from . import processes
from .builds import C_FLAGS
from .paths import CACHE, PROGRAMS

#: Only keeps a broken program from hanging the tests.
TIMEOUT = 60.0

#: Widths of pointers in bytes that programs of this machine can have.
WIDTHS = (8, 4) if platform.machine() == "x86_64" else (8,)


@functools.cache
def program(width: int = 8) -> Path:
    """The program, compiled for a width."""
    sources = [PROGRAMS / "mpi2dd.c", PROGRAMS / "mpi2dd.h"]
    flags = [*C_FLAGS, *(["-m32"] if width == 4 else [])]
    content = b"".join(path.read_bytes() for path in sources) + " ".join(flags).encode()
    path = CACHE / "programs" / f"mpi2dd-{width}-{hashlib.sha256(content).hexdigest()[:16]}" / "mpi2dd"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        made = path.with_suffix(".new")
        subprocess.run(["gcc", *flags, str(sources[0]), "-o", str(made)], check=True)
        made.rename(path)
    return path


class DirectoryJob:
    """One that runs, with what it says of itself."""

    def __init__(self, directory: Path, starter: int) -> None:
        self.directory = directory
        self.truth: Dict[str, Any] = json.loads((directory / "truth.json").read_bytes())
        assert self.truth["starter"] == starter

    @property
    def worlds(self) -> Dict[str, List[int]]:
        """The process ids of each world by rank."""
        return dict(self.truth["worlds"])

    @property
    def pids(self) -> List[int]:
        """All its processes: the starter, the directories, the ranks."""
        special = [self.truth[name] for name in ("starter", "metadirectory", "directory_a", "directory_b")]
        return [*special, *(pid for ranks in self.worlds.values() for pid in ranks)]

    def flags(self, pid: int) -> int:
        """What a process has noted of its debugger_flags; 0 where it has seen no change."""
        try:
            return int((self.directory / f"flags.{pid}").read_text())
        except (FileNotFoundError, ValueError):
            return 0

    def wait_for_flags(self, pid: int, flags: int) -> None:
        """Until the process has seen exactly these."""
        deadline = time.monotonic() + TIMEOUT
        while self.flags(pid) != flags:
            assert time.monotonic() < deadline, f"pid {pid} has seen the flags {self.flags(pid)}, not {flags}"
            time.sleep(0.02)


@contextlib.contextmanager
def running(directory: Path, variant: str = "good", width: int = 8) -> Iterator[DirectoryJob]:
    """A job in this variant; it has ended afterwards."""
    starter = subprocess.Popen([str(program(width)), str(directory), variant], stdin=subprocess.DEVNULL)
    pids: List[int] = []
    try:
        deadline = time.monotonic() + TIMEOUT
        while not (directory / "truth.json").exists():
            assert starter.poll() is None, f"{variant}: it has ended"
            assert time.monotonic() < deadline, f"{variant}: no truth"
            time.sleep(0.01)
        job = DirectoryJob(directory, starter.pid)
        pids = job.pids
        yield job
    finally:
        # Its children die with it.
        known = [one for one in map(processes.identity, pids) if one is not None]
        starter.kill()
        starter.wait()
        deadline = time.monotonic() + TIMEOUT
        while any(processes.is_alive(one) for one in known):
            assert time.monotonic() < deadline, "processes of the job are left"
            time.sleep(0.01)


@contextlib.contextmanager
def to_be_launched(directory: Path, variant: str) -> Iterator[str]:
    """The words that start a job, for a debugger; whatever they have started has ended afterwards."""
    try:
        yield f"{program()} {directory} {variant}"
    finally:
        found = list(_of_directory(directory))
        for one in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one.pid, signal.SIGKILL)
        deadline = time.monotonic() + TIMEOUT
        while any(processes.is_alive(one) for one in found):
            assert time.monotonic() < deadline, "processes of the job are left"
            time.sleep(0.01)


def _of_directory(directory: Path) -> Iterator[processes.Identity]:
    """The processes of a job, also where it has not got as far as to name them."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        known = processes.identity(int(entry.name))
        # Debuggers start programs by their true paths.
        if known is not None and words[1:2] == [str(directory).encode()]:
            yield known


def launched(directory: Path) -> DirectoryJob:
    """The job that a debugger has started."""
    truth = json.loads((directory / "truth.json").read_bytes())
    return DirectoryJob(directory, truth["starter"])
