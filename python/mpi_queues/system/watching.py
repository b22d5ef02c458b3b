"""What is seen of the messages of processes while they run on."""

from __future__ import annotations

import time
from typing import Iterable, NamedTuple, Set

from .. import _native


class Watched(NamedTuple):
    """Process ids of this machine."""

    #: Those through whose shared memory, or connections with one another, messages went.
    moving: Set[int]
    #: Those whose messages may have gone where nobody sees them: to others, or over what the kernel does not count.
    unseen: Set[int]


def watch(pids: Iterable[int], until: float) -> Watched:
    """Watches processes, which run on, until then (``time.monotonic``).

    Lasts until then. What is shared is read once for all of them.
    """
    moving, unseen = _native.watch(list(pids), max(0.0, until - time.monotonic()))
    return Watched(set(moving), set(unseen))
