"""Tests that run under ``mpiexec``: of each rank a process beside it (``slow_test_watch.py``) hears which test runs.

It is a process and no thread, since a rank that hangs in a call of C may hold Python's lock.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import subprocess
import sys
from typing import Optional

from ..launchers import environment
from ..system import prctl

#: Seconds in which the process beside us ends once its pipe is closed, unless it is about to write a diagnosis.
_END = 60.0

_START = "import sys; sys.path.insert(0, sys.argv[1]); from mpi_queues.watching.slow_test_watch import main; main()"


class SlowTests:
    """The process beside one rank. It is made where standard error is the one that people read."""

    def __init__(self, rank: int, after: float, directory: Optional[str], *, end: bool) -> None:
        """A test is slow ``after`` so many seconds. Then reports are written into ``directory``, and ``end`` ends the
        job."""
        # The process that tells of a job may be that beside any of its ranks: none is above ours.
        prctl.prctl(prctl.PR_SET_PTRACER, prctl.PR_SET_PTRACER_ANY)
        asked = {"rank": rank, "after": after, "directory": directory, "end": end}
        package = str(pathlib.Path(__file__).resolve().parents[2])
        # It is no rank, though a rank has started it.
        names = {family.rank for family in environment.FAMILIES}
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _START, package],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env={name: value for name, value in os.environ.items() if name not in names},
            # Unbuffered: what is said is heard.
            bufsize=0,
            # Launchers kill a rank with all that is of its process group; it is to see to the end of others.
            start_new_session=True,
        )
        self._say(asked)

    def begin(self, test: str) -> None:
        """A test begins."""
        self._say({"begin": test})

    def end(self) -> None:
        """It has ended."""
        self._say({"end": True})

    def close(self) -> None:
        """No further test comes."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END)

    def _say(self, word: object) -> None:
        assert self._process.stdin is not None
        # Whoever has killed it wants no diagnosis.
        with contextlib.suppress(OSError):
            self._process.stdin.write(json.dumps(word).encode() + b"\n")


def rank() -> Optional[int]:
    """The rank that this process was started as; None where no launcher has started it."""
    found = environment.identity(os.environ)
    return None if found is None else found.rank
