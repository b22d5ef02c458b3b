"""What tests start ends with them, also where a run of tests is interrupted or killed.

All that a test starts has a mark in its environment. A process of its own waits for the end of the tests, and then ends
whatever still has that mark: ``leftovers.py MARK``, with a pipe from the tests as its standard input.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from pathlib import Path
from typing import List

NAME = "MPIQ_TESTS"

#: Seconds for what is about to end by itself.
GRACE = 30.0


def guard() -> None:
    """From now on all that this process starts is marked, and ends with it."""
    mark = f"{os.getpid()}-{time.monotonic_ns()}"
    environment = {name: value for name, value in os.environ.items() if name != NAME}
    os.environ[NAME] = mark
    # It is closed when this process ends, however that comes.
    read, _ = os.pipe()
    os.posix_spawn(
        sys.executable,
        [sys.executable, __file__, mark],
        environment,
        file_actions=[(os.POSIX_SPAWN_DUP2, read, 0)],
        # Ctrl-C is for the tests.
        setsid=True,
    )
    os.close(read)


def marked(mark: str) -> List[int]:
    """The processes that have the mark, and run."""
    entry = f"{NAME}={mark}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        # Processes end meanwhile, and those of others are not ours to look at.
        with contextlib.suppress(OSError):
            if entry in (path / "environ").read_bytes().split(b"\0"):
                found.append(int(path.name))
    return found


def left() -> List[str]:
    """What tests have started that has not ended by itself after a while."""
    deadline = time.monotonic() + GRACE
    while pids := [pid for pid in marked(os.environ[NAME]) if pid != os.getpid()]:
        if time.monotonic() > deadline:
            break
        time.sleep(0.2)
    told = []
    for pid in pids:
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            told.append(f"{pid} {b' '.join(words).decode(errors='replace')}")
    return told


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()
    # What is killed may have started more meanwhile.
    for _ in range(50):
        for pid in marked(sys.argv[1]):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)


if __name__ == "__main__":
    main()
