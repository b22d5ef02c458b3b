"""What ``mpi diagnose`` keeps from one time to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict

from .._native import Snapshot


@dataclass(frozen=True)
class Look:
    """What it saw."""

    snapshot: Snapshot
    #: By the clock of ``time.monotonic``.
    at: float
    #: ``processes.active_time`` of each, by process id.
    active: Dict[int, float]
