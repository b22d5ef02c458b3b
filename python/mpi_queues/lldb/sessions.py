"""One core session per lldb process, kept between commands; what was read is read anew by each command.

lldb tells nobody that memory was written to: neither its events nor its stop numbers change with ``memory write``. So
memory is kept within a command only; what is costly (the images, their symbols, the layouts) stays until the
process has run.
"""

from __future__ import annotations

import os
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Tuple, TypeVar, Union

from .. import _native
from ..debuggers.base import DebuggedProcess
from ..debuggers.core_process import CoreProcess
from ..debuggers.sessions import ProcessSession
from ..errors import UserError, as_user_error
from ..handle_types import HandleDict
from ..printers import words
from ..system import processes
from .adapter import ALIVE, STOPPED, LldbProcess, core_path

_T = TypeVar("_T")

#: What a variable that is shown may take, in seconds.
TIME_LIMIT = 2.0


class LldbTarget(ProcessSession):
    """The process of one of lldb's targets."""

    def __init__(self, debugger: Any, target: Any) -> None:
        self._debugger = debugger
        self._target = target
        self._lldb_process = target.GetProcess()
        self._process = LldbProcess(self._lldb_process)
        read: DebuggedProcess = self._process
        if read.via == "core":
            read = CoreProcess(core_path(self._lldb_process), read)
        super().__init__(read, [])
        self._read = read
        self._stop = _stop_of(self._lldb_process)
        self._modules = _modules_of(target)
        self._given_up: Optional[UserError] = None

    @property
    def label(self) -> str:
        pid = self._process.pid
        return f"{self._number} (pid {pid})" if pid is not None else self._number

    @property
    def _number(self) -> str:
        return f"target #{self._debugger.GetIndexOfTarget(self._target)}"

    @property
    def selected(self) -> bool:
        return bool(self._debugger.GetSelectedTarget() == self._target)

    def begin(self) -> None:
        """A command begins, or a variable is shown: forgets what may have changed since the last one."""
        stop = _stop_of(self._lldb_process)
        images = False
        if stop != self._stop:
            modules = _modules_of(self._target)
            images = modules != self._modules
            self._stop, self._modules = stop, modules
            self._given_up = None
        self._process.forget()
        self.invalidate(images=images)

    @property
    def alive(self) -> bool:
        """Whether there still is a process."""
        return bool(self._lldb_process.IsValid() and self._lldb_process.GetState() in ALIVE)

    def retry(self) -> None:
        """Lets variables be tried again that were given up."""
        self._given_up = None

    def describe_soon(self, kind: str, value: Union[int, bytes], *, fortran: bool, full: bool) -> HandleDict:
        """As :meth:`describe`, of memory as it is now, in limited time: for a debugger that shows many variables.

        What failed for all handles alike is not tried again before the process has run or a command has begun.

        Raises:
            UserError: where it cannot be told.
        """
        self.begin()
        if self._given_up is not None:
            raise self._given_up
        self._read.deadline = time.monotonic() + TIME_LIMIT
        try:
            return self.describe(kind, value, fortran=fortran, full=full)
        except KeyboardInterrupt:
            self._given_up = UserError(f"reading it takes longer than {TIME_LIMIT:g} s", kind="timeout")
            raise self._given_up from None
        except _native.NativeError as error:
            failure = as_user_error(error)
            if failure.kind in words.LASTING:
                self._given_up = failure
            raise failure from None
        finally:
            self._read.deadline = None

    def reached(self, act: Callable[[], _T]) -> _T:
        if self._lldb_process.GetState() not in STOPPED:
            raise UserError(f"{self._number} is running", help="type: process interrupt", kind="running")
        return act()


class Sessions:
    """The sessions of all processes of one debugger, on one thread."""

    def __init__(self) -> None:
        self._by_process: Dict[Tuple[int, int], LldbTarget] = {}

    def of(self, debugger: Any, target: Any) -> LldbTarget:
        """The session of a target.

        Raises:
            UserError: where it has no process.
        """
        process = target.GetProcess()
        if not process.IsValid() or process.GetState() not in ALIVE:
            raise UserError("no process: nothing is being debugged here", kind="no_process")
        key = _key(process)
        known = self._by_process.get(key)
        if known is None:
            self._by_process = {other: session for other, session in self._by_process.items() if session.alive}
            known = self._by_process[key] = LldbTarget(debugger, target)
        return known

    def live(self, debugger: Any) -> List[LldbTarget]:
        """The targets that have a process, by lldb's number."""
        found: Dict[Tuple[int, int], LldbTarget] = {}
        for index in range(int(debugger.GetNumTargets())):
            target = debugger.GetTargetAtIndex(index)
            process = target.GetProcess()
            if not process.IsValid() or process.GetState() not in ALIVE:
                continue
            key = _key(process)
            found[key] = self._by_process.get(key) or LldbTarget(debugger, target)
        self._by_process = found
        return list(found.values())

    def begin(self) -> None:
        """A command begins."""
        for session in self._by_process.values():
            session.begin()
            session.retry()


class ThreadSessions:
    """The sessions of each thread: those of the core belong to the thread that made them, and lldb runs commands on one
    thread and shows where a process has stopped on another."""

    def __init__(self) -> None:
        self._by_thread: Dict[Tuple[int, int], Sessions] = {}

    def here(self) -> Sessions:
        """Those of this thread."""
        return self._by_thread.setdefault(_thread(), Sessions())


def _thread() -> Tuple[int, int]:
    """This thread, told from one that had its number before and has ended."""
    number = threading.get_native_id()
    return (number, 0) if number == os.getpid() else (number, processes.start_time(number) or 0)


def _key(process: Any) -> Tuple[int, int]:
    # lldb numbers the processes that it has had; a pid may come again.
    return int(process.GetUniqueID()), int(process.GetProcessID())


def _stop_of(process: Any) -> int:
    """Counts the stops, also those after a function of the program that lldb called."""
    return int(process.GetStopID(True))


def _modules_of(target: Any) -> List[Tuple[str, int]]:
    """What is loaded where."""
    return [
        (str(module.GetFileSpec().GetFilename()), int(module.GetObjectFileHeaderAddress().GetLoadAddress(target)))
        for module in target.module_iter()
    ]
