"""Whole jobs of 64 ranks, from the launcher's process id: finding them, and reading all of them."""

from __future__ import annotations

import re
import tempfile
import time
from typing import List, Tuple

from mpi_queues import jobs
from mpi_queues.launchers import job as acquisition
from support.builds import MpiBuild, compile_program
from support.cli import mpi_queues

_RANKS = 64


def figure_jobs(build: MpiBuild) -> List[Tuple[str, str, str, bool]]:
    """The ranks sleep, so that other work of this machine is not slowed."""
    program = compile_program(build, "rank_of_job")
    with (
        tempfile.TemporaryDirectory() as place,
        jobs.Job(program, ranks=_RANKS, args=[place, "plain"], launcher=build.mpirun, timeout=180) as job,
    ):
        found: List[float] = []
        for _ in range(5):
            started = time.perf_counter()
            ranks = acquisition.of(job.launcher_pid).ranks
            found.append(time.perf_counter() - started)
            assert [entry.pid for entry in ranks] == job.pids
        together, note = _show("--job", str(job.launcher_pid))
    of_one = re.search(r"(\d+) ms a rank", note)
    assert of_one is not None, note
    return [
        (
            f"{_RANKS} ranks: found from the launcher, middle of 5",
            f"{1000 * sorted(found)[2]:.0f} ms",
            "under 500 ms",
            sorted(found)[2] < 0.5,
        ),
        (
            f"{_RANKS} ranks: show --job",
            f"{together:.1f} s ({of_one[1]} ms a rank)",
            "under 15 s",
            together < 15,
        ),
    ]


def _show(*arguments: str) -> Tuple[float, str]:
    started = time.perf_counter()
    result = mpi_queues("show", *arguments)
    assert result.status == 0, str(result)
    return time.perf_counter() - started, " ".join(result.out.split())
