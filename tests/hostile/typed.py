"""Runs the project's command line as a person does, and looks at what it costs and prints."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from typing import Dict, Optional, Sequence, Tuple, Union

from support.paths import MPI_QUEUES

from .guarded import FORBIDDEN, GIVE_UP_SECONDS, MAX_BYTES, MAX_SECONDS
from .recordings import unclean

#: What it and its debuggers may reserve, which is more than they may use: libraries of debuggers are large.
MAX_ADDRESSES = 16 << 30
#: No file that it writes is larger.
MAX_FILE = 1 << 30


@dataclass(frozen=True)
class Typed:
    """How a command ended."""

    status: int
    out: str
    err: str
    #: What no input may make of it, in sentences.
    problems: Tuple[str, ...]
    #: Processor time, with that of its debuggers.
    seconds: float

    @property
    def outcome(self) -> str:
        """In a word, for the figures."""
        if "not read within" in self.err:
            return "late"
        if "without an answer" in self.err:
            return "without its debugger"
        return {0: "read", 1: "read in part", 2: "refused", 3: "refused"}.get(self.status, "ended")


def typed(
    arguments: Sequence[Union[str, bytes]],
    *,
    limit: float = MAX_SECONDS,
    patience: float = GIVE_UP_SECONDS,
    environment: Optional[Dict[str, str]] = None,
    user: Optional[int] = None,
) -> Typed:
    """``mpi-queues ARGUMENTS``, which may take ``limit`` seconds of the processor and ``patience`` by the clock."""

    def limits() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MAX_ADDRESSES, MAX_ADDRESSES))
        resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE, MAX_FILE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    problems = []
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(
            [str(MPI_QUEUES), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env={**os.environ, **(environment or {})},
            preexec_fn=limits,
            user=user,
            group=user,
            extra_groups=[] if user is not None else None,
        )
        # It ends its debuggers when it is told to end; whoever does not listen is killed.
        timers = [
            threading.Timer(patience, os.kill, (child.pid, signal.SIGTERM)),
            threading.Timer(patience + 10.0, os.kill, (child.pid, signal.SIGKILL)),
        ]
        for timer in timers:
            timer.start()
        _, ended, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(ended)
        in_time = timers[0].is_alive()
        for timer in timers:
            timer.cancel()
        out.seek(0)
        err.seek(0)
        texts = [out.read(), err.read()]
    for content in texts:
        try:
            problems += filter(None, [unclean(content.decode())])
        except UnicodeDecodeError as error:
            problems.append(f"what is printed is no UTF-8: {error}")
    said, told = (content.decode(errors="replace") for content in texts)
    problems += [f"{word!r} is printed:\n{told[-2000:]}" for word in FORBIDDEN if word in said + told]
    if not in_time:
        problems.append(f"it had not ended after {patience:.0f} s: {told[-500:]}")
    elif child.returncode not in (0, 1, 2, 3):
        problems.append(f"status {child.returncode}: {told[-2000:]}")
    if child.returncode != 0 and not told:
        problems.append(f"status {child.returncode} without a word")
    seconds = used.ru_utime + used.ru_stime
    if seconds > limit:
        problems.append(f"it took {seconds:.1f} s of the processor: {told[-500:]}")
    # Of the largest of them, in KiB (getrusage(2)).
    if used.ru_maxrss << 10 > MAX_BYTES:
        problems.append(f"a process of it took {used.ru_maxrss >> 10} MiB: {told[-500:]}")
    return Typed(child.returncode, said, told, tuple(problems), seconds)
