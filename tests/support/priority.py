"""Ranks that wait in MPI poll, and would take the processors from the debuggers that look at them."""

from __future__ import annotations

import contextlib
import os
from typing import Any, Iterable

from mpi_queues import jobs

#: About a tenth of what others get (sched(7)). With the lowest, 19, a rank that is stopped while the processors are
#: busy takes long until it notices.
NICE = 10


def behind_debuggers(pids: Iterable[int]) -> None:
    """The processes get the processors after everybody else, all their threads.

    Most jobs have sessions of their own, and where the kernel groups by sessions it is these groups that share the
    processors (sched(7), "The autogroup feature"). Our own session stays as it is: it is that of a shell.
    """
    for pid in pids:
        # The process may have ended, which is for the test to say; and the kernel may have no such groups.
        with contextlib.suppress(OSError):
            if os.getsid(pid) != os.getsid(0):
                with open(f"/proc/{pid}/autogroup", "w") as file:
                    file.write(str(NICE))
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                os.setpriority(os.PRIO_PROCESS, int(thread), NICE)


class Job(jobs.Job):
    """A job whose ranks let the debuggers go first, once they are ready."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        behind_debuggers(self.pids)
