"""Commands of others: they may take so long and say so much, and what they leave running is not waited for."""

from __future__ import annotations

import os
import selectors
import subprocess
import tempfile
import time
from typing import Dict, NamedTuple, Sequence

#: Bytes that are read at once, and seconds after which a command that says nothing is looked at again.
_PIECE, _SOON = 1 << 20, 0.1


class Said(NamedTuple):
    """How a command has ended, and what it has written (bytes)."""

    #: As :attr:`subprocess.Popen.returncode`.
    status: int
    out: bytes
    errors: bytes


class SaysTooMuch(Exception):
    """A command whose words are needed whole says more than will be kept."""


def said(command: Sequence[str], seconds: float, most: int, given: bytes = b"", *, whole: bool = False) -> Said:
    """Runs a command, which reads ``given``. Of its two outputs together ``most`` bytes are kept; the rest is dropped,
    or with ``whole`` an error.

    Raises:
        OSError: where it cannot be started.
        subprocess.TimeoutExpired: where it has not ended after so many ``seconds``; it is killed then.
        SaysTooMuch: see above; it is killed then.
    """
    deadline = time.monotonic() + seconds
    with tempfile.TemporaryFile() as words:
        words.write(given)
        words.seek(0)
        child = subprocess.Popen(command, stdin=words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None and child.stderr is not None
    kept: Dict[int, bytearray] = {child.stdout.fileno(): bytearray(), child.stderr.fileno(): bytearray()}
    with child, selectors.DefaultSelector() as writing:
        try:
            for number in kept:
                writing.register(number, selectors.EVENT_READ)
            while writing.get_map():
                left = deadline - time.monotonic()
                if left <= 0:
                    raise subprocess.TimeoutExpired(command, seconds)
                # Asked first: what it wrote before it ended is there by then.
                has_ended = child.poll() is not None
                ready = writing.select(0 if has_ended else min(left, _SOON))
                if not ready and has_ended:
                    # What it has started holds them still.
                    break
                for key, _ in ready:
                    piece = os.read(key.fd, _PIECE)
                    if not piece:
                        writing.unregister(key.fd)
                    room = most - sum(map(len, kept.values()))
                    if whole and len(piece) > room:
                        raise SaysTooMuch
                    kept[key.fd] += piece[:room]
            child.wait(max(0.0, deadline - time.monotonic()))
        finally:
            if child.returncode is None:
                child.kill()
    out, errors = (bytes(text) for text in kept.values())
    return Said(child.returncode, out, errors)
