"""Figures of recordings: replay and size."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import List, Tuple

import mpi_queues
from support import builds
from support.cli import mpi_queues as command_line
from support.cli import pid_options
from support.jobs import Job

Row = Tuple[str, str, str, bool]


def record(job: Job, file: Path, *options: str) -> float:
    """Records all ranks of a job; returns how long it took, in seconds."""
    started = time.perf_counter()
    result = command_line("record", *pid_options(job.pids), "-o", str(file), *options)
    assert result.status == 0, str(result)
    return time.perf_counter() - started


def replay(file: Path, operations: int, runs: int = 9) -> float:
    """Seconds to open the file and read all queues of all its processes, in a warm Python."""
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        snapshot = mpi_queues.load(file)
        times.append(time.perf_counter() - started)
        communicators = [one for process in snapshot.processes for one in process.communicators]
        found = sum(
            len(queue)
            for one in communicators
            for queue in (one.pending_sends, one.pending_receives, one.unexpected_messages)
        )
        assert found >= operations, (found, operations)
    return statistics.median(times)


def figure_recordings(build: builds.MpiBuild) -> List[Row]:
    with tempfile.TemporaryDirectory(prefix="mq-") as directory:
        four, many, full = (Path(directory) / f"{name}.mpirec" for name in ("four", "many", "full"))
        with Job(build, "truth_comms", ranks=4) as job:
            taken = record(job, four)
            record(job, full, "--full")
        with Job(build, "many", "10000", "0", "0", ranks=2) as job:
            record(job, many)
        small, large = replay(four, 4), replay(many, 10_000)
        megabytes = many.stat().st_size / 1e6
        a_rank, a_full_rank = (file.stat().st_size / 4e6 for file in (four, full))
    return [
        (
            "replay of a recording of 4 ranks, all queues, in a warm Python",
            f"{1000 * small:.0f} ms (of 2 ranks with 10,000 receives: {1000 * large:.0f} ms)",
            "under 100 ms",
            small < 0.1,
        ),
        ("a recording of 10,000 receives", f"{megabytes:.2f} MB (both ranks)", "under 2 MB", megabytes < 2),
        ("a typical recording", f"{a_rank:.2f} MB a rank", "well under 1 MB a rank", a_rank < 0.5),
        ("a full recording", f"{a_full_rank:.2f} MB a rank", "(not asked for)", True),
        ("`mpi-queues record` of 4 ranks", f"{taken:.2f} s", "(not asked for)", True),
    ]
