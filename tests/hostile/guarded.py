"""Runs a function in a process of its own: a crash, a hang or too much memory is a sentence, not the end of a test."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from typing import Any, Callable, Optional, Tuple

#: What one look at a damaged process may take.
MAX_SECONDS = 20.0
MAX_BYTES = 1 << 30

#: A process that hangs is ended after this. With all processors busy, runs within the limit take many times as long.
GIVE_UP_SECONDS = 180.0

#: What no user must ever see.
FORBIDDEN = (
    "panicked at",
    "Traceback (most recent call last)",
    "memory allocation of",
    "stack overflow",
    "PanicException",
)


@dataclass(frozen=True)
class Run:
    """One run with hostile input."""

    #: What was done, so that it can be done again: the seed first.
    what: str
    #: What is wrong, in sentences; none: it held.
    problems: Tuple[str, ...] = ()
    #: Processor time.
    seconds: float = 0.0
    #: What came out, in a word, for the figures.
    outcome: str = "read"


@dataclass(frozen=True)
class Outcome:
    """How a guarded function ended."""

    value: Any
    problems: Tuple[str, ...]
    seconds: float


def guarded(function: Callable[[], Any]) -> Outcome:
    """Runs ``function`` in a fork of this process. What it returns must be JSON."""
    reading, writing = os.pipe()
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if child == 0:
            os.close(reading)
            _be_child(function, writing, said.fileno())
        os.close(writing)
        answer = _answer(reading, child)
        _, status, used = os.wait4(child, 0)
        said.seek(0)
        text = said.read().decode(errors="replace")
    problems = [f"{forbidden!r} is printed:\n{text[-2000:]}" for forbidden in FORBIDDEN if forbidden in text]
    seconds = used.ru_utime + used.ru_stime
    if os.WIFSIGNALED(status):
        problems.append(
            f"it was ended by {signal.Signals(os.WTERMSIG(status)).name} after {seconds:.1f} s: {text[-500:]}"
        )
    elif os.WEXITSTATUS(status) != 0 and not problems:
        problems.append(f"it ended with status {os.WEXITSTATUS(status)}: {text[-2000:]}")
    if seconds > MAX_SECONDS:
        problems.append(f"it took {seconds:.1f} s of the processor")
    value = json.loads(answer) if answer else None
    return Outcome(value, tuple(problems), seconds)


def _answer(reading: int, child: int) -> bytes:
    """What the child writes until it ends; it is ended where that takes too long."""
    deadline = time.monotonic() + GIVE_UP_SECONDS
    pieces = []
    try:
        while True:
            ready, _, _ = select.select([reading], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                os.kill(child, signal.SIGKILL)
                return b""
            piece = os.read(reading, 1 << 20)
            if not piece:
                return b"".join(pieces)
            pieces.append(piece)
    finally:
        os.close(reading)


def _be_child(function: Callable[[], Any], writing: int, said: int) -> None:
    """Never returns."""
    status = 1
    try:
        os.dup2(said, 1)
        os.dup2(said, 2)
        size = _address_space()
        if size is not None:
            resource.setrlimit(resource.RLIMIT_AS, (size + MAX_BYTES, size + MAX_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        answer = json.dumps(function()).encode()
        while answer:
            answer = answer[os.write(writing, answer) :]
        status = 0
    except BaseException:  # noqa: BLE001 - whatever it is, the parent tells it
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


def _address_space() -> Optional[int]:
    """Bytes of address space that this process has already."""
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:
            return int(statm.read().split()[0]) * resource.getpagesize()
    except OSError:
        return None
