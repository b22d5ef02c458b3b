"""Why is my MPI job stuck? Message queues of real MPI programs, from inside a debugger or the command line."""

from __future__ import annotations

from ._native import (
    Communicator,
    NativeError,
    Operation,
    Process,
    Queue,
    Session,
    Snapshot,
    __version__,
)
from .errors import UserError

__all__ = [
    "Communicator",
    "NativeError",
    "Operation",
    "Process",
    "Queue",
    "Session",
    "Snapshot",
    "UserError",
    "__version__",
]
