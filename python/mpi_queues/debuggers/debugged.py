"""A live process of a debugger as the core reads it: what commands ask of one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Callable, Dict, List, Optional, Union

from .._native import Snapshot
from ..handle_types import HandleDict
from ..request import USUAL, Request


class DebuggedMpi(ABC):
    """One live process of the debugger, read through the core."""

    #: How the debugger numbers it, such as ``inferior 2 (pid 4242)`` or ``target #1 (pid 4242)``.
    label: str
    selected: bool

    @property
    @abstractmethod
    def pid(self) -> Optional[int]:
        """Its process id; None where the debugger does not know it."""

    @abstractmethod
    def read(self, request: Request) -> Snapshot:
        """What :meth:`Session.read` gives; asked again at the same stop, the answer is remembered."""

    @abstractmethod
    def standing(self, request: Request) -> Snapshot:
        """As :meth:`Session.standing`."""

    @abstractmethod
    def outline(self, request: Request) -> Optional[Snapshot]:
        """As :meth:`Session.outline`."""

    @abstractmethod
    def identity(self) -> Dict[str, Optional[int]]:
        """Rank and size in MPI_COMM_WORLD."""

    @abstractmethod
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

    @abstractmethod
    def handles(self, request: Request) -> Snapshot:
        """As :meth:`Session.handles`."""

    @abstractmethod
    def info(self) -> Dict[str, Any]:
        """What was detected, from where, and what is missing."""

    @abstractmethod
    def compare(self, request: Request) -> List[str]:
        """Where reader and plug-in differ."""

    @abstractmethod
    def handle_plugin_info(self, request: Request) -> Dict[str, Any]:
        """The plug-in for handles that would be used."""

    @abstractmethod
    def plugin_info(self, request: Request) -> Dict[str, Any]:
        """The plug-in that would be used."""

    @abstractmethod
    def record(
        self,
        write: Callable[[bytes], Any],
        *,
        full: bool = False,
        progress: Optional[Callable[[int, int], Any]] = None,
    ) -> Optional[str]:
        """As :meth:`Session.record`."""

    @abstractmethod
    def set_identity(self, identity: Optional[int]) -> None:
        """Its place in the universe of its job, which plug-ins for MPI-2 are told; None where that is its rank."""

    @abstractmethod
    def set_plugin_path(self, paths: List[str]) -> None:
        """The ``plugin-path`` setting: plug-ins, or directories with some."""

    @abstractmethod
    def set_layouts(self, path: Optional[str]) -> None:
        """The ``layouts`` setting: a profile to use instead of the shipped ones; None for those.

        Raises:
            UserError: where the file is none.
        """

    @abstractmethod
    def trust_plugin(self, path: str) -> Dict[str, Any]:
        """Checks a plug-in and remembers that the user asked for it."""
