"""What a debugger tells of the calls of one process at one stop, as far as no debugger is needed for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Optional

from .. import _native
from .base import DebuggedProcess
from .fingerprints import Fingerprints, Place


class ProcessCalls(ABC):
    """The calls in the stacks of one process."""

    def __init__(self, process: DebuggedProcess) -> None:
        self.process = process
        self._fingerprints = Fingerprints(process)
        self._family: Optional[str] = None

    def fingerprint(self, place: Place) -> Optional[str]:
        """That of a frame."""
        return self._fingerprints.of(place)

    @abstractmethod
    def _libraries(self) -> str:
        """The names of all that is loaded."""

    def _known_family(self) -> str:
        """Whose constants of MPI the program has, as of ``mpi_family``."""
        if self._family is None:
            self._family = _native.mpi_family(self._symbol, self._libraries())
        return self._family

    def _symbol(self, name: str) -> Optional[int]:
        found = self.process.symbol(name)
        return None if found is None else found[0]
