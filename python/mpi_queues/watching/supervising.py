"""Starts a launcher and stands beside it: what comes to us goes to it, and what becomes of it becomes of us.

It is in our process group and has our terminal, so what a terminal sends to the group it has by itself. It is below us,
so that we may read its ranks where a process may only be read by one that is above it (Yama's ptrace_scope 1).
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import struct
import sys
from types import FrameType
from typing import AbstractSet, Any, Dict, List, Mapping, NoReturn, Optional, Sequence, Tuple

from ..system import prctl
from ..system.paths import shown
from .standing import stand

#: What shells say of a command that is not there, and of one that they may not start.
NOT_FOUND, NOT_EXECUTABLE = 127, 126

#: What others send to us alone, and the launcher is meant.
_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT, signal.SIGALRM)
#: What a terminal sends to all of its foreground, so that the launcher has it already.
_OF_TERMINALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGWINCH)

#: Python ignores these, and a program that is started would, too.
_OF_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


def become(command: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Replaces this process by a command.

    Raises:
        SystemExit: where it cannot be started, with the status that shells give.
    """
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    for number in _OF_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(command[0], list(command), dict(environment))
    except OSError as error:
        raise _not_started(command[0], error) from None


def _tell(sentence: str) -> None:
    with contextlib.suppress(OSError):
        print(f"mpi-queues: {sentence}", file=sys.stderr)


def _not_started(program: str, error: OSError) -> SystemExit:
    _tell(f"{shown(program)}: {error.strerror}")
    return SystemExit(NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE)


class Launcher:
    """A launcher that was started. A context manager: signals go to it meanwhile."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], holding: Tuple[int, ...] = ()) -> None:
        """Starts it; ``holding`` are signals that are kept in ``held`` when they come.

        Raises:
            SystemExit: where it cannot be started, with the status that shells give.
        """
        self._before: Dict[int, Any] = {}
        #: As ``os.waitpid`` gives it, once it has ended.
        self.status: Optional[int] = None
        #: Signals that came and are not passed on yet, by who wants to do something first.
        self.held: List[int] = []
        #: Those that are held when they come.
        self.holding = holding
        # What comes from now on is for the launcher.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, (*_PASSED_ON, *_OF_TERMINALS, signal.SIGCHLD))
        try:
            self.pid = self._start(command, environment, mask)
            self._install()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def _start(self, command: Sequence[str], environment: Mapping[str, str], mask: AbstractSet[int]) -> int:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        if not prctl.is_there():
            _tell("this Python has no ctypes: if this command is killed, the launcher runs on")
        above = os.getpid()
        told, tell = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                # Who kills us kills the job, as without us.
                prctl.prctl(prctl.PR_SET_PDEATHSIG, int(signal.SIGKILL))
                if os.getppid() != above:
                    os._exit(1)
                for number in (*_PASSED_ON, *_OF_TERMINALS, *_OF_PYTHON):
                    if signal.getsignal(number) is not signal.SIG_IGN or number in _OF_PYTHON:
                        signal.signal(number, signal.SIG_DFL)
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
                os.execvpe(command[0], list(command), dict(environment))
            except OSError as error:
                os.write(tell, struct.pack("i", error.errno or 0))
            finally:
                os._exit(NOT_FOUND)
        os.close(tell)
        with os.fdopen(told, "rb") as pipe:
            answer = pipe.read()
        if answer:
            os.waitpid(pid, 0)
            number = struct.unpack("i", answer)[0]
            # An OSError of a number is of the class that belongs to it.
            raise _not_started(command[0], OSError(number, os.strerror(number)))
        return pid

    def _install(self) -> None:
        for number in (*_PASSED_ON, *_OF_TERMINALS):
            # What was ignored before us the launcher ignores, too.
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._came)
        self._before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, self._child)

    def __enter__(self) -> Launcher:
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _came(self, number: int, frame: Optional[FrameType]) -> None:
        if number in _OF_TERMINALS and _is_foreground():
            return
        if number in self.holding and number not in self.held:
            self.held.append(number)
        else:
            # Whoever says it again does not want to wait.
            self.pass_on(number)

    def pass_on(self, number: int) -> None:
        """Sends a signal to the launcher, which has not ended."""
        self.held = [one for one in self.held if one != number]
        if self.status is None:
            with contextlib.suppress(OSError):
                os.kill(self.pid, number)

    def _child(self, number: int, frame: Optional[FrameType]) -> None:
        if self.status is not None:
            return
        try:
            pid, status = os.waitpid(self.pid, os.WNOHANG | os.WUNTRACED)
        except ChildProcessError:
            self.status = 0
            return
        if pid == 0:
            return
        if os.WIFSTOPPED(status):
            # So that the shell knows. Who lets us go on lets it go on.
            stand(self.pid, os.WSTOPSIG(status))
        else:
            self.status = status

    def ended(self) -> int:
        """Ends as it has: with its status, or by the same signal."""
        assert self.status is not None
        if os.WIFEXITED(self.status):
            return os.WEXITSTATUS(self.status)
        number = os.WTERMSIG(self.status)
        with contextlib.suppress(OSError, ValueError):
            # Its core is there, or not; none of us.
            resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
            if number != signal.SIGKILL:
                signal.signal(number, signal.SIG_DFL)
            with contextlib.suppress(OSError):
                sys.stdout.flush()
                sys.stderr.flush()
            os.kill(os.getpid(), number)
        return 128 + number


def _is_foreground() -> bool:
    """Whether our group has a terminal to itself: then what comes from a terminal has gone to all of the group."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
