"""What the kernel counts of processes while they run: nothing is stopped for it."""

from __future__ import annotations

import os
import pathlib
from dataclasses import dataclass
from typing import Dict, Iterable, Optional, Tuple

from ..launchers.tree import ProcessTree
from ..system import processes


@dataclass(frozen=True)
class Clock:
    """Of one process."""

    #: By thread: nanoseconds for which it has had a processor, and how often it has had one.
    threads: Dict[int, Tuple[int, int]]

    @property
    def seconds(self) -> float:
        """For how long it has had a processor."""
        return sum(running for running, _ in self.threads.values()) / 1e9

    def without(self, other: Clock) -> Clock:
        """What is left without what another one has counted."""
        return Clock(
            {
                thread: (running - other.threads.get(thread, (0, 0))[0], times - other.threads.get(thread, (0, 0))[1])
                for thread, (running, times) in self.threads.items()
            }
        )

    def thread(self, number: int, pid: int) -> Optional[Tuple[int, int]]:
        """Of the thread that snapshots give that number: the one that the process began with is 1, the others follow
        as the kernel numbers them."""
        others = sorted(thread for thread in self.threads if thread != pid)
        order = [pid, *others]
        return self.threads.get(order[number - 1]) if 0 < number <= len(order) else None


def of(pids: Iterable[int]) -> Dict[int, Clock]:
    """The clocks of processes; not of those of which the kernel does not tell."""
    found = {}
    for pid in pids:
        clock = _of(pid)
        if clock is not None:
            found[pid] = clock
    return found


def _of(pid: int) -> Optional[Clock]:
    threads: Dict[int, Tuple[int, int]] = {}
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            # Nanoseconds on a processor, nanoseconds of waiting for one, and how often it had one (Linux,
            # Documentation/scheduler/sched-stats.rst).
            fields = pathlib.Path(f"/proc/{pid}/task/{thread}/schedstat").read_text(encoding="ascii").split()
            threads[int(thread)] = (int(fields[0]), int(fields[2]))
    except (OSError, ValueError, IndexError):
        return None
    return Clock(threads)


def of_started(pids: Iterable[int]) -> Dict[int, Dict[int, Optional[float]]]:
    """Of processes that have started others: for how long each of these, and of those that they have started, has had a
    processor, in seconds."""
    tree = ProcessTree()
    found = {pid: {one: processes.run_time(one) for one in tree.descendants(pid)} for pid in pids}
    return {pid: times for pid, times in found.items() if times}
