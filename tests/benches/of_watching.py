"""What a watch costs while a job moves: processor time of looks, against the time that passes between them."""

from __future__ import annotations

import time
from typing import List, Tuple

from mpi_queues import jobs
from mpi_queues.request import Request
from mpi_queues.targets.jobs import found_job, of_job
from mpi_queues.targets.target import Target
from mpi_queues.watching.looks import Looks
from mpi_queues.watching.watcher import Watcher
from support.builds import MpiBuild, compile_program

_RANKS = 64
#: After which time the alarm would be given, in seconds, and how often it is looked at one rank meanwhile.
_AFTER, _GLANCES = 600.0, 5

Row = Tuple[str, str, str, bool]


def figure_watch(build: MpiBuild) -> List[Row]:
    program = compile_program(build, "fine/allreduce_loop")
    with jobs.Job(program, ranks=_RANKS, launcher=build.mpirun, timeout=180) as job:

        def find() -> List[Target]:
            return of_job(found_job(str(job.launcher_pid), 60))

        looks = Looks(find, Request())
        watcher = Watcher(looks, _AFTER)
        # Two looks at all find which ranks move.
        for _ in range(2):
            watcher.step()
            time.sleep(0.5)
        used = time.process_time()
        for _ in range(_GLANCES):
            assert watcher.step() is None
            time.sleep(0.2)
        glances = time.process_time() - used
        looks.all()
        whole = time.process_time() - used - glances
    # All are looked at once in twice the time.
    share = (glances + whole / 2) / _AFTER
    parts = f"{_GLANCES} looks at 1 rank: {1000 * glances:.0f} ms, one at all: {1000 * whole:.0f} ms"
    told = f"{100 * share:.3f}% of a core  ({parts})"
    return [(f"watching {_RANKS} ranks that move, --after 10m", told, "under 0.1%", share < 0.001)]
