"""One core session per lldb process, kept between commands; what was read is read anew by each command.

lldb tells nobody that memory was written to: neither its events nor its stop numbers change with ``memory write``. So
memory is kept within a command only; what is costly (the images, their symbols, the layouts) stays until the
process has run.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Tuple, TypeVar

from ..errors import UserError
from .base import DebuggedProcess
from .core_process import CoreProcess
from .lldb_adapter import ALIVE, STOPPED, LldbProcess, core_path
from .sessions import ProcessSession

_T = TypeVar("_T")


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
        self._stop = _stop_of(self._lldb_process)
        self._modules = _modules_of(target)

    @property
    def label(self) -> str:  # type: ignore[override]  # a plain attribute in the base
        pid = self._process.pid
        return f"{self._number} (pid {pid})" if pid is not None else self._number

    @property
    def _number(self) -> str:
        return f"target #{self._debugger.GetIndexOfTarget(self._target)}"

    @property
    def selected(self) -> bool:  # type: ignore[override]
        return bool(self._debugger.GetSelectedTarget() == self._target)

    def begin(self) -> None:
        """A command begins: forgets what may have changed since the last one."""
        stop = _stop_of(self._lldb_process)
        images = False
        if stop != self._stop:
            modules = _modules_of(self._target)
            images = modules != self._modules
            self._stop, self._modules = stop, modules
        self._process.forget()
        self.invalidate(images=images)

    def reached(self, act: Callable[[], _T]) -> _T:
        if self._lldb_process.GetState() not in STOPPED:
            raise UserError(f"{self._number} is running", help="type: process interrupt", kind="running")
        return act()


class Sessions:
    """The sessions of all processes of one debugger."""

    def __init__(self) -> None:
        self._by_process: Dict[Tuple[int, int], LldbTarget] = {}

    def live(self, debugger: Any) -> List[LldbTarget]:
        """The targets that have a process, by lldb's number."""
        found: Dict[Tuple[int, int], LldbTarget] = {}
        for index in range(int(debugger.GetNumTargets())):
            target = debugger.GetTargetAtIndex(index)
            process = target.GetProcess()
            if not process.IsValid() or process.GetState() not in ALIVE:
                continue
            # lldb numbers the processes that it has had; a pid may come again.
            key = (int(process.GetUniqueID()), int(process.GetProcessID()))
            found[key] = self._by_process.get(key) or LldbTarget(debugger, target)
        self._by_process = found
        return list(found.values())

    def begin(self) -> None:
        """A command begins."""
        for session in self._by_process.values():
            session.begin()


def _stop_of(process: Any) -> int:
    """Counts the stops, also those after a function of the program that lldb called."""
    return int(process.GetStopID(True))


def _modules_of(target: Any) -> List[Tuple[str, int]]:
    """What is loaded where."""
    return [
        (str(module.GetFileSpec().GetFilename()), int(module.GetObjectFileHeaderAddress().GetLoadAddress(target)))
        for module in target.module_iter()
    ]
