"""One core session per gdb inferior, kept between commands at the same stop and dropped by gdb's own events."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple, TypeVar

import gdb

from ..debuggers.base import DebuggedProcess
from ..debuggers.core_process import CoreProcess
from ..debuggers.sessions import ProcessSession
from ..errors import UserError
from . import threads as gdb_threads
from .adapter import GdbProcess, core_path
from .inferiors import connection_of
from .settings import DIALECT

_T = TypeVar("_T")
#: The name that the process of an inferior was given, by the inferior's number and the process id.
NameOf = Callable[[int, int], Optional[str]]


class GdbInferior(ProcessSession):
    """An inferior with a process or a core file."""

    def __init__(
        self,
        inferior: Any,
        safe_path: List[str],
        name_of: NameOf = lambda *_: None,
    ) -> None:
        process: DebuggedProcess = GdbProcess(inferior)
        if process.via == "core":
            process = CoreProcess(core_path(), process)
        super().__init__(process, safe_path)
        self._inferior = inferior
        self._name_of = name_of
        self.key = _key(inferior)

    @property
    def label(self) -> str:
        number, pid = int(self._inferior.num), int(self._inferior.pid)
        name = self._name_of(number, pid)
        return f"inferior {number} ({name}, pid {pid})" if name else f"inferior {number} (pid {pid})"

    @property
    def selected(self) -> bool:
        return bool(gdb.selected_inferior() == self._inferior)

    def require_stopped(self) -> None:
        """Raises UserError where it is running."""
        threads = self._inferior.threads()
        if threads and all(thread.is_running() for thread in threads):
            raise UserError(
                f"inferior {self._inferior.num} is running",
                help="type: interrupt",
                kind="running",
            )

    def reached(self, act: Callable[[], _T]) -> _T:
        self.require_stopped()
        if gdb.selected_inferior() == self._inferior:
            # Printers are called while gdb unwinds a stack: nothing may be selected then, and need not be.
            return act()
        with gdb_threads.selection_kept():
            gdb_threads.select_inferior(self._inferior)
            return act()


class Sessions:
    """The sessions of all inferiors."""

    def __init__(self, name_of: NameOf) -> None:
        self._name_of = name_of
        self._by_number: Dict[int, GdbInferior] = {}
        self._connected = False

    def connect(self) -> None:
        """Listens to gdb's events, once."""
        if self._connected:
            return
        self._connected = True
        events = gdb.events
        for registry in (events.cont, events.stop, events.memory_changed, events.register_changed):
            registry.connect(self._ran)
        # A function of the program that gdb calls (print f()) may change anything.
        events.inferior_call.connect(self._ran)
        events.new_objfile.connect(self._loaded)
        events.clear_objfiles.connect(self._loaded)
        events.exited.connect(self._exited)
        for name in ("inferior_deleted", "free_objfile"):
            # inferior_deleted came with gdb 8.2, free_objfile with gdb 13.
            registry = getattr(events, name, None)
            if registry is not None:
                registry.connect(self._exited if name == "inferior_deleted" else self._loaded)

    def live(self) -> List[GdbInferior]:
        """The inferiors that have a process, by number."""
        directories = safe_path()
        found = []
        numbers = set()
        for inferior in sorted(gdb.inferiors(), key=lambda inferior: int(inferior.num)):
            if not inferior.pid:
                continue
            numbers.add(int(inferior.num))
            known = self.of(inferior)
            known.set_safe_path(directories)
            found.append(known)
        for number in set(self._by_number) - numbers:
            del self._by_number[number]
        return found

    def of(self, inferior: Any) -> GdbInferior:
        """The session of one inferior.

        Raises:
            UserError: where it has no process.
        """
        if not inferior.pid:
            raise UserError(f"inferior {inferior.num} has no process", help=DIALECT.start, kind="no_process")
        known = self._by_number.get(int(inferior.num))
        if known is None or known.key != _key(inferior):
            if gdb.selected_inferior() == inferior:
                known = GdbInferior(inferior, safe_path(), self._name_of)
            else:
                with gdb_threads.selection_kept():
                    gdb_threads.select_inferior(inferior)
                    known = GdbInferior(inferior, safe_path(), self._name_of)
            self._by_number[int(inferior.num)] = known
        return known

    def _ran(self, event: Any) -> None:
        # Events of one inferior do not always tell which; forgetting too much costs one more read.
        for session in self._by_number.values():
            session.invalidate()

    def _loaded(self, event: Any) -> None:
        for session in self._by_number.values():
            session.invalidate(images=True)

    def _exited(self, event: Any) -> None:
        inferior = getattr(event, "inferior", None)
        if inferior is None:
            self._by_number.clear()
        else:
            self._by_number.pop(int(inferior.num), None)


def _key(inferior: Any) -> Tuple[int, int]:
    """Tells a process of an inferior from the next one: core files of one process may have its pid all."""
    return int(inferior.pid), connection_of(inferior)


def safe_path() -> List[str]:
    """The directories of gdb's ``auto-load safe-path``, without its variables."""
    value = gdb.parameter("auto-load safe-path")
    return [entry for entry in str(value or "").split(":") if entry.startswith("/")]
