"""The line that tells how far a recording is: on a terminal, of what takes long, and gone afterwards."""

from __future__ import annotations

import os
import pty
import select

from mpi_queues.report.progress import CLEAR, ProgressLine


def _read(descriptor: int) -> str:
    out = b""
    while select.select([descriptor], [], [], 0.2)[0]:
        out += os.read(descriptor, 4096)
    return out.decode()


def test_on_a_terminal() -> None:
    ours, theirs = pty.openpty()
    try:
        line = ProgressLine(theirs, delay=0.0)
        line.tell("1 of 2")
        line.tell("2 of 2")
        line.tell("")
        line.tell("")
        # The second text follows the first too soon to be read.
        assert _read(ours) == f"{CLEAR}1 of 2{CLEAR}"
        quick = ProgressLine(theirs, delay=60.0)
        quick.tell("1 of 1")
        quick.tell("")
        assert _read(ours) == ""
    finally:
        os.close(ours)
        os.close(theirs)


def test_nothing_is_written_elsewhere() -> None:
    ours, theirs = os.pipe()
    try:
        line = ProgressLine(theirs, delay=0.0)
        line.tell("1 of 2")
        line.tell("")
        assert _read(ours) == ""
    finally:
        os.close(ours)
        os.close(theirs)
    # A terminal that went away.
    ProgressLine(theirs, delay=0.0).tell("1 of 2")
