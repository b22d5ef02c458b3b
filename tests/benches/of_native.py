"""Reading without a debugger: whole commands on ranks that spin in MPI."""

from __future__ import annotations

import os
import re
import subprocess
import time
from typing import List, Tuple

from mpi_queues import jobs
from support.builds import MpiBuild, compile_program
from support.cli import MPI_QUEUES

_RANKS = 64
Row = Tuple[str, str, str, bool]


def figure_native(build: MpiBuild) -> List[Row]:
    rows: List[Row] = []
    for ranks in (2, _RANKS):
        program = compile_program(build, "bugs/ring_recv")
        with jobs.Job(program, ranks=ranks, launcher=build.mpirun, timeout=180) as job:
            named = ["--job", str(job.launcher_pid)]
            shown, out, peak = _command(["show", *named])
            diagnosed, _, _ = _command(["diagnose", *named])
        if ranks == 2:
            rows.append(_row("2 ranks: show", shown, 0.4))
        else:
            rows.append(_row(f"{ranks} ranks: diagnose, both looks and what is between them", diagnosed, 2.5))
            stood = re.search(r"read in ([\d.]+) s, (\d+) ms a rank", " ".join(out.split()))
            assert stood is not None
            seconds = float(stood[1])
            rows.append((f"{ranks} ranks: all stand for", f"{1000 * seconds:.0f} ms", "at most 100 ms", seconds <= 0.1))
            rows.append((f"{ranks} ranks: peak memory", f"{peak >> 10} MiB", "under 200 MB", peak < 200_000))
    started = min(_command(["init", "gdb"])[0] for _ in range(5))
    rows.append(("the command line's start", f"{1000 * started:.0f} ms", "at most 100 ms", started <= 0.1))
    return rows


def _row(name: str, seconds: float, limit: float) -> Row:
    return name, f"{seconds:.2f} s", f"under {limit:g} s", seconds < limit


def _command(arguments: List[str]) -> Tuple[float, str, int]:
    """How long a command takes, what it says, and its peak memory in KiB."""
    started = time.perf_counter()
    child = subprocess.Popen([str(MPI_QUEUES), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    out = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, out
    return time.perf_counter() - started, out, used.ru_maxrss
