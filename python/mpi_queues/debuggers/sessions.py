"""One process of a debugger with its core session, and what was read at its present stop."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Callable, Dict, List, Optional, TypeVar, Union

from .. import _native
from ..errors import UserError, as_user_error
from ..handle_types import HandleDict
from ..printers.words import LASTING
from ..request import USUAL, Request
from .base import DebuggedProcess

_T = TypeVar("_T")


class ProcessSession(ABC):
    """A process of a debugger, read through the core: what commands ask of one. The debugger's part is to reach it."""

    def __init__(self, process: DebuggedProcess, safe_path: List[str]) -> None:
        self._debugged = process
        self._layouts: Optional[str] = None
        self._safe_path = safe_path
        self._plugin_path: List[str] = []
        self._identity: Optional[int] = None
        self._open: Optional[_native.Session] = None
        self._snapshots: Dict[Request, _native.Snapshot] = {}
        self._refused: Optional[UserError] = None

    @property
    @abstractmethod
    def label(self) -> str:
        """How the debugger numbers it, such as ``inferior 2 (pid 4242)`` or ``target #1 (pid 4242)``."""

    @property
    @abstractmethod
    def selected(self) -> bool:
        """Whether the debugger's commands mean it."""

    @property
    def pid(self) -> Optional[int]:
        """Its process id; None where the debugger does not know it."""
        return self._debugged.pid

    @abstractmethod
    def reached(self, act: Callable[[], _T]) -> _T:
        """Does it while the debugger's reads and lookups mean this process.

        Raises:
            UserError: where it is running.
        """

    @property
    def _session(self) -> _native.Session:
        if self._open is None:
            self._open = self._opened(self._layouts)
        return self._open

    def _opened(self, layouts: Optional[str]) -> _native.Session:
        session = _native.Session(self._debugged, layouts=layouts)
        session.set_safe_path(self._safe_path)
        session.set_plugin_path(self._plugin_path)
        session.set_identity(self._identity)
        return session

    def invalidate(self, *, images: bool = False) -> None:
        """The process ran, was written to, or loaded libraries."""
        self._snapshots.clear()
        self._refused = None
        self._debugged.forget()
        if images:
            # Other files may be mapped: nothing that was found out about it holds.
            self._open = None
        elif self._open is not None:
            self._open.invalidate()

    def set_safe_path(self, directories: List[str]) -> None:
        """Directories that the user trusts."""
        if directories != self._safe_path:
            self._safe_path = directories
            if self._open is not None:
                self._open.set_safe_path(directories)

    def set_layouts(self, path: Optional[str]) -> None:
        """The ``layouts`` setting: a profile to use instead of the shipped ones; None for those.

        Raises:
            UserError: where the file is none.
        """
        if path == self._layouts:
            return
        try:
            session = self._opened(path)
        except _native.NativeError as error:
            raise as_user_error(error) from None
        # What was found with other layouts is not kept.
        self.invalidate(images=True)
        self._open, self._layouts = session, path

    def set_identity(self, identity: Optional[int]) -> None:
        """Its place in the universe of its job, which plug-ins for MPI-2 are told; None where that is its rank."""
        if identity != self._identity:
            self._identity = identity
            if self._open is not None:
                self._open.set_identity(identity)
            self._snapshots.clear()

    def set_plugin_path(self, paths: List[str]) -> None:
        """The ``plugin-path`` setting: plug-ins, or directories with some."""
        if paths != self._plugin_path:
            self._plugin_path = paths
            if self._open is not None:
                self._open.set_plugin_path(paths)
            self._snapshots.clear()

    def asked(self, act: Callable[[_native.Session], _T]) -> _T:
        """What ``act`` gives of its session, such as ``request.outline``.

        Raises:
            UserError: where it is running.
        """
        return self.reached(lambda: act(self._session))

    def ask(self, request: Request) -> Any:
        """What the request asks for, as :meth:`Request.ask`."""
        return self.read(request) if request.action == "read" else self.asked(request.ask)

    def read(self, request: Request) -> _native.Snapshot:
        """What :meth:`Session.read` gives; asked again at the same stop, the answer is remembered."""
        # How long it may take says nothing of what is read.
        key = request.within(0.0)
        known = self._snapshots.get(key)
        if known is None:
            known = self.asked(request.read)
            # One of each: a large snapshot is not kept for every source that was tried.
            kind = (key.queues, key.stacks)
            self._snapshots = {
                other: kept for other, kept in self._snapshots.items() if (other.queues, other.stacks) != kind
            }
            self._snapshots[key] = known
        return known

    def describe(
        self,
        kind: str,
        value: Union[int, bytes],
        *,
        fortran: bool = False,
        full: bool = False,
        request: Request = USUAL,
    ) -> HandleDict:
        """As :meth:`Session.describe`."""
        return self.reached(lambda: request.describe(self._session, kind, value, fortran=fortran, full=full))

    def summary(self, kind: str, value: Union[int, bytes], fortran: bool) -> str:
        """The line for people of a handle, for printers: where no handle can be read, that is found out once.

        Raises:
            UserError, NativeError: as :meth:`describe`.
        """
        if self._refused is not None:
            raise self._refused
        try:
            return self.describe(kind, value, fortran=fortran)["summary"]
        except _native.NativeError as error:
            if error.kind in LASTING:
                self._refused = as_user_error(error)
            raise

    def record(
        self,
        write: Callable[[bytes], Any],
        *,
        full: bool = False,
        progress: Optional[Callable[[int, int], Any]] = None,
    ) -> Optional[str]:
        """As :meth:`Session.record`."""
        return self.reached(lambda: self._session.record(write, full=full, progress=progress))
