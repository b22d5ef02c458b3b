"""The process between us and an MPI launcher: it ends the whole job, also where we were killed.

It starts the launcher, and tells by one line of JSON each that it runs and that it has ended. When it reads ``end``, or
when the pipe from us closes because we are gone, it ends the launcher and every process of the job. At the second
word, or with the pipe, it removes the job's directory and ends.
"""

from __future__ import annotations

import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import time
from typing import Any, Callable, Dict, List, Optional

from ..system import prctl, processes
from . import memory

#: The environment variable that marks every process of a job, with the job's directory as its value.
MARK = "MPI_QUEUES_JOB"

#: Seconds that a launcher may take to end, once without its ranks and once when it is told to. Open MPI's sleeps for at
#: least one between the signals to its ranks (orte/mca/odls/base/odls_base_default_fns.c, 4.1), and all that it would
#: clean up lies in the job's directory: nobody needs to wait for it.
_GRACE = 0.3

#: Seconds that killed processes may take to be gone.
_GONE = 5.0

_REQUEST, _ANSWERS = 0, 1


def main() -> None:
    """Reads the request from standard input, keeps the job, ends it."""
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    os.set_blocking(wake_read, False)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    # A handler is not handed on to the launcher, as SIG_IGN would be. The job ends when its owner says so or is gone.
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT):
        signal.signal(number, _only_wake)
    # Without it what a rank has started is found by the mark alone.
    prctl.prctl(prctl.PR_SET_CHILD_SUBREAPER, 1)
    words = _Words()
    try:
        request: Dict[str, Any] = json.loads(words.next())
    except ValueError:
        # Our owner ended before it had asked.
        return
    directory = str(request["directory"])
    try:
        try:
            _tell({"ended": _keep(request, words, wake_read)})
        except OSError as error:
            _tell({"failed": str(error)})
        # Our owner may want to read what the job has printed. What it had sent as "end" comes too late now.
        while words.next() not in (b"remove", b""):
            pass
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _keep(request: Dict[str, Any], words: _Words, wake: int) -> int:
    """Runs the launcher until it ends or the job is to end; returns its status as ``Popen.returncode`` has it."""
    directory = str(request["directory"])
    with open(os.path.join(directory, "launcher"), "ab") as output:
        launcher = subprocess.Popen(
            request["command"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=request["environment"],
            cwd=request["cwd"],
            start_new_session=True,
        )
    _tell({"launcher": launcher.pid})
    while _status(launcher) is None and not words.arrived():
        select.select([_REQUEST, wake], [], [])
        _drain(wake)
    known = _start_times(_members(directory))
    shared = memory.mapped_by(list(known))
    # A launcher whose ranks have died cleans up and ends at once; one that is told to end gives them a second first.
    # Again and again: it may be just starting them.
    _await_end(launcher, wake, lambda: _kill(_ranks(directory)))
    if _status(launcher) is None:
        launcher.terminate()
        _await_end(launcher, wake)
    if _status(launcher) is None:
        launcher.kill()
        launcher.wait()
    end_members(directory, _reap, known)
    memory.remove(shared)
    return launcher.returncode


def _await_end(launcher: subprocess.Popen[bytes], wake: int, before: Callable[[], None] = lambda: None) -> None:
    deadline = time.monotonic() + _GRACE
    while _status(launcher) is None and time.monotonic() < deadline:
        before()
        select.select([wake], [], [], 0.1)
        _drain(wake)


def end_members(
    directory: str, reap: Callable[[], None] = lambda: None, known: Optional[Dict[int, Optional[int]]] = None
) -> None:
    """Kills what is left of a job, until nothing of it lives. The mark also finds what no longer has a parent; one that
    is about to be gone has none any more. ``known``: members with the times of their start, as of before."""
    deadline = time.monotonic() + _GONE
    seen = dict(known or {})
    while True:
        reap()
        members = _members(directory)
        seen.update(_start_times(members))
        left = [
            pid for pid, start in seen.items() if not processes.has_ended(pid) and processes.start_time(pid) == start
        ]
        if not left or time.monotonic() > deadline:
            # One that has ended since.
            reap()
            return
        _kill(members)
        time.sleep(0.005)


def _start_times(pids: List[int]) -> Dict[int, Optional[int]]:
    return {pid: processes.start_time(pid) for pid in pids}


def _kill(pids: List[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            # It ended by itself, or became another user's.
            continue


def _ranks(directory: str) -> List[int]:
    """The members that are ranks: each has written down its process id (rank.py)."""
    written = {file.read_text() for file in pathlib.Path(directory).glob("pid.*") if file.suffix != ".new"}
    return [pid for pid in _members(directory) if str(pid) in written]


def _members(directory: str) -> List[int]:
    mark = os.fsencode(f"{MARK}={directory}")
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                environment = (entry / "environ").read_bytes()
            except OSError:
                # Another user's, or gone.
                continue
            if mark in environment.split(b"\0"):
                found.append(int(entry.name))
    return found


def _status(launcher: subprocess.Popen[bytes]) -> Optional[int]:
    """The launcher's status once it has ended; every other child that has ended is waited for, too."""
    launcher.poll()
    _reap(launcher.pid)
    return launcher.returncode


def _reap(but: int = 0) -> None:
    """Waits for the processes of the job that became our children, which nobody else would do in some containers."""
    while True:
        try:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        if ended is None or ended.si_pid == but:
            return
        os.waitpid(ended.si_pid, 0)


def _only_wake(number: int, frame: object) -> None:
    """The signal's number goes to the wake-up pipe; nothing else is to happen."""


def _drain(descriptor: int) -> None:
    try:
        while os.read(descriptor, 512):
            pass
    except BlockingIOError:
        return


def _tell(answer: Dict[str, Any]) -> None:
    try:
        os.write(_ANSWERS, json.dumps(answer).encode() + b"\n")
    except OSError:
        # Nobody is there to hear it.
        return


class _Words:
    """Lines from our owner; a closed pipe counts as every word that may still come."""

    def __init__(self) -> None:
        self._buffer = b""
        self._closed = False

    def next(self) -> bytes:
        """Waits for the next line; empty where the pipe is closed."""
        while b"\n" not in self._buffer and not self._closed:
            self._read()
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def arrived(self) -> bool:
        """Whether the next line, or the end, is there already."""
        while b"\n" not in self._buffer and not self._closed:
            if not select.select([_REQUEST], [], [], 0)[0]:
                return False
            self._read()
        return True

    def _read(self) -> None:
        piece = os.read(_REQUEST, 1 << 16)
        self._closed = not piece
        self._buffer += piece
