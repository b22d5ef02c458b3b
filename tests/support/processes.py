"""What /proc says of a process."""

from __future__ import annotations

import contextlib
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterator, List, Optional


@dataclass(frozen=True)
class Identity:
    """A process id and the time of its start, so that a reused id is not taken for the same process."""

    pid: int
    start: int


def _stat(pid: int) -> Optional[List[str]]:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name in parentheses may contain anything; the fields follow the last parenthesis, state first.
    return text[text.rindex(")") + 2 :].split()


def identity(pid: int) -> Optional[Identity]:
    fields = _stat(pid)
    return None if fields is None else Identity(pid, int(fields[19]))


def state(pid: int) -> Optional[str]:
    """The state letter: R, S, T (stopped by a signal), t (by a tracer), Z; None where there is no such process."""
    fields = _stat(pid)
    return None if fields is None else fields[0]


def is_alive(process: Identity) -> bool:
    return identity(process.pid) == process and state(process.pid) != "Z"


def tracer(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("TracerPid:"):
            return int(line.split()[1])
    raise AssertionError(f"/proc/{pid}/status has no TracerPid")


def thread_states(pid: int) -> str:
    """The state letters of all threads."""
    letters = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            text = (task / "stat").read_text()
            letters.append(text[text.rindex(")") + 2])
    return "".join(sorted(letters))


def assert_running(pid: int) -> None:
    """The process lives, runs (or sleeps of its own will) and nobody traces it. Its main thread may have ended."""
    assert identity(pid) is not None, f"there is no process {pid}"
    living = set(thread_states(pid)) - {"Z", "X"}
    assert living and living <= {"R", "S", "D"}, f"threads of process {pid} are in the states {living}"
    assert tracer(pid) == 0, f"process {pid} is still traced by {tracer(pid)}"


def children(pid: int) -> List[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            fields = _stat(int(entry.name))
            if fields is not None and int(fields[1]) == pid:
                found.append(int(entry.name))
    return found


def descendants(pid: int) -> List[Identity]:
    """All processes below one, deepest last."""
    found: List[Identity] = []
    pending = [pid]
    while pending:
        for child in children(pending.pop()):
            process = identity(child)
            if process is not None:
                found.append(process)
                pending.append(child)
    return found


def wait_until(condition: Callable[[], bool], what: str, timeout: float = 60.0) -> None:
    """Polls a condition; the time limit only keeps a broken test from hanging."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"gave up after {timeout:g} s waiting for {what}")
        time.sleep(0.005)


@contextlib.contextmanager
def asleep(**options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has started and sleeps: no MPI program. `options` are those of `subprocess.Popen`."""
    with subprocess.Popen(["sleep", "600"], **options) as process:
        try:
            wait_until(lambda: state(process.pid) == "S", "sleep's start")
            yield process
        finally:
            process.kill()
