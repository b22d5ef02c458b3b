"""A core file as a target."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Optional

from .. import _native
from ..request import Request
from ..system import files
from ..system.paths import shown
from .answer import Answer, ReadTarget, asked


@dataclass(frozen=True)
class CoreTarget(ReadTarget):
    """A core file, and the program that dumped it where the user named it."""

    core: str
    exe: Optional[str] = None

    @property
    def label(self) -> str:
        return shown(self.core)

    def read(self, request: Request) -> Answer:
        """What the process that it shows answers."""
        deadline = time.monotonic() + request.timeout
        _native.begin_look(deadline)

        def session() -> _native.Session:
            core = _native.CoreFile(self.core)
            owner = core.owner
            reader = files.reader_of_user(owner) if owner is not None else None
            return _native.core_session(core, self.exe, layouts=request.layouts, deadline=deadline, reader=reader)

        return asked(self, request, session)
