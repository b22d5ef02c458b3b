"""When all ranks of a launcher are there, where the launcher itself cannot say so."""

from __future__ import annotations

import threading
import time
from typing import Callable, Dict, Optional, Set, Tuple

from . import finding, owners
from .tree import ProcessTree

#: Between two looks at the processes, in seconds.
_INTERVAL = 0.02
#: Where the launcher does not tell how many there will be: as long as this no further one has come.
_SETTLED = 0.5
_Ranks = Dict[Tuple[Optional[str], int], Optional[int]]


class Appearing:
    """Looks for the ranks below a launcher on a thread of its own, and calls ``act`` once they are there.

    ``act`` says whether that was it; otherwise it is called again later.
    """

    def __init__(self, pid: int, act: Callable[[], bool]) -> None:
        self._pid = pid
        self._act = act
        #: Whether ``act`` has said that this was it.
        self.complete = False
        self._ended = threading.Event()
        self._seen: Set[Tuple[Optional[str], int]] = set()
        self._since = 0.0
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Looks no longer."""
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(_INTERVAL):
            if self._are_there() and self._act():
                self.complete = True
                return

    def _are_there(self) -> bool:
        ranks = _ranks_below(self._pid)
        if not ranks:
            return False
        if set(ranks) != self._seen:
            self._seen, self._since = set(ranks), time.monotonic()
        expected = [size for size in ranks.values() if size is not None]
        return (bool(expected) and len(ranks) >= max(expected)) or time.monotonic() - self._since > _SETTLED


def _ranks_below(pid: int) -> _Ranks:
    """World and rank of each process below a launcher that is one, with the number of ranks on this machine."""
    tree = ProcessTree()
    found: _Ranks = {}
    user = owners.user_of(tree, pid)
    for below in finding.below(tree, pid):
        if not owners.is_users(tree, below, user):
            continue
        process, told = tree.get(below), finding.identity(tree, below, pid)
        if process is not None and not process.ended and told is not None:
            found[told.world, told.rank] = told.local_size or told.size
    return found
