"""The process beside a rank that runs tests: where a test takes too long it says once why the job is stuck.

There is one beside each rank, and each hears from its own which test runs (lines of JSON on standard input). The first
one whose test takes too long tells of the whole job on standard error, for as long as that test runs the others are
silent. It waits with little; what it needs to read a job is imported then.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import struct
import time
from typing import Any, Dict, List, Optional

_INPUT, _ERROR = 0, 2

#: Where the kernel does not tell when a process ends it is asked so often, in seconds.
_ASKED_EVERY = 5.0

#: Seconds between the two looks at the job.
_BETWEEN = 0.5

#: Seconds in which the ranks of a job are found.
_FOUND = 60.0

#: pid, uid and gid of who is at the other end (unix(7), SO_PEERCRED).
_PEER = struct.Struct("3i")


def main() -> None:
    """Until the rank has ended, or says that no test follows."""
    # Ctrl-C and the end of a job are told to the rank, whose end ends this.
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    words = _Words(os.getppid())
    asked = words.next(None)
    if not asked:
        return
    test = ""
    since: Optional[float] = None
    told: Optional[socket.socket] = None
    while True:
        word = words.next(None if since is None else since + float(asked["after"]))
        if word is None:
            return
        if not word:
            since = None
            told = _tell(asked, test)
            continue
        # The test of which was told has ended.
        if told is not None:
            told.close()
            told = None
        test = str(word.get("begin", ""))
        since = time.monotonic() if "begin" in word else None


class _Words:
    """What the rank says."""

    def __init__(self, rank: int) -> None:
        self._rest = b""
        self._rank = rank
        self._poll = select.poll()
        self._poll.register(_INPUT, select.POLLIN)
        # What a rank has forked holds its end of the pipe when it is gone. Linux 5.3; OSError where it has ended.
        with contextlib.suppress(OSError, AttributeError):
            self._poll.register(os.pidfd_open(rank), select.POLLIN)

    def next(self, until: Optional[float]) -> Optional[Dict[str, Any]]:
        """The next word; an empty one where none has come until then, None at the end."""
        while b"\n" not in self._rest:
            left = _ASKED_EVERY if until is None else min(_ASKED_EVERY, until - time.monotonic())
            if left <= 0:
                return {}
            ready = [number for number, _ in self._poll.poll(int(left * 1000) + 1)]
            if _INPUT in ready:
                piece = os.read(_INPUT, 4096)
                if not piece:
                    return None
                self._rest += piece
            elif ready or os.getppid() != self._rank:
                return None
        line, _, self._rest = self._rest.partition(b"\n")
        found: Dict[str, Any] = json.loads(line)
        return found


def _tell(asked: Dict[str, Any], test: str) -> Optional[socket.socket]:
    """Says why the job is stuck, unless another one does; what keeps others from it until it is closed."""
    from ..errors import UserError
    from ..system.output import in_lines
    from ..targets import jobs
    from .files import duration

    rank = os.getppid()
    what = f"{test} takes more than {duration(float(asked['after']))} on rank {asked['rank']}"
    try:
        job = jobs.found_job(str(rank), _FOUND)
    except UserError as error:
        # On the nodes where the launcher is not, the first rank speaks for all.
        if asked["rank"] == 0:
            _write(in_lines(f"mpi-queues: {what}. {error}\n"))
        return None
    name = f"{job.launcher} (pid {job.pid})"
    first = _first(job.pid)
    if first is not None:
        _write(in_lines("\n".join(["", f"mpi-queues: {name}: {what}.", "", *_told(asked, job.pid), ""])))
        if asked["end"]:
            _end(job.pid, name)
    return first


def _told(asked: Dict[str, Any], launcher: int) -> List[str]:
    """The diagnosis of a job, and what was written of it."""
    from ..errors import UserError
    from ..request import Request
    from .files import Directory
    from .looks import Looks, Nothing, of_launcher
    from .watcher import looked

    looks = Looks(of_launcher(launcher, _FOUND), Request())
    try:
        diagnosis = looked(looks, _BETWEEN)
        told = [str(diagnosis)]
        if asked["directory"] is not None:
            written = Directory(asked["directory"]).write(diagnosis, [], looks)
            told += ["", f"Written to {written.directory}: {', '.join(written.files)}", *written.problems]
    except (Nothing, UserError) as error:
        return [str(error)]
    return told


def _end(launcher: int, name: str) -> None:
    from ..errors import UserError
    from ..targets.jobs import found_job
    from . import ending

    _write(f"mpi-queues: {name}: ending it now\n")
    pids: List[int] = []
    with contextlib.suppress(UserError):
        pids = [entry.pid for entry in found_job(str(launcher), _FOUND).ranks if entry.here and entry.pid is not None]
    # A launcher waits for the end of its ranks' output, which is ours, too.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, _ERROR)
    ending.end(launcher, name, pids)


def _first(launcher: int) -> Optional[socket.socket]:
    """Something that only one process of this machine can have of a job; None where another one has it."""
    from ..system import processes

    # A name that is gone with who has it, of no file.
    name = f"\0mpi-queues-{os.geteuid()}-{launcher}-{processes.start_time(launcher)}"
    mine = socket.socket(socket.AF_UNIX)
    try:
        mine.bind(name)
        mine.listen(1)
    except OSError:
        # Anybody can take a name; only who is of the same user silences this one.
        if _has_same_user(name):
            mine.close()
            return None
    return mine


def _has_same_user(name: str) -> bool:
    with socket.socket(socket.AF_UNIX) as other:
        try:
            other.setblocking(False)
            other.connect(name)
            content = other.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
        except BlockingIOError:
            # Many ask at once: all of them are ranks.
            return True
        except OSError:
            return False
        _, uid, _ = _PEER.unpack(content)
        return bool(uid == os.geteuid())


def _write(text: str) -> None:
    data = text.encode("utf-8", "backslashreplace")
    with contextlib.suppress(OSError):
        while data:
            data = data[os.write(_ERROR, data) :]
