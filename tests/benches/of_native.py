"""Reading without a debugger against reading through gdb: whole commands on the same ranks, which spin in MPI."""

from __future__ import annotations

import os
import re
import subprocess
import time
from typing import Dict, List, Tuple

from mpi_queues import jobs
from support.builds import MpiBuild, compile_program
from support.cli import MPI_QUEUES

_RANKS = 64
#: Between the two looks, in seconds.
_PAUSE = 0.5
Row = Tuple[str, str, str, bool]


def figure_native(build: MpiBuild) -> List[Row]:
    rows: List[Row] = []
    for ranks in (2, _RANKS):
        program = compile_program(build, "bugs/ring_recv")
        with jobs.Job(program, ranks=ranks, launcher=build.mpirun, timeout=180) as job:
            named = ["--job", str(job.launcher_pid)]
            times: Dict[str, float] = {}
            for via in ("native", "gdb"):
                for command in ("show", "diagnose"):
                    times[f"{command} {via}"], out, memory = _command([command, *named, "--via", via])
                    if command == "show" and via == "native":
                        stood = re.search(r"read in ([\d.]+) s, (\d+) ms a rank", " ".join(out.split()))
                        peak = memory
            assert stood is not None
        faster = (times["diagnose gdb"] - _PAUSE) / (times["diagnose native"] - _PAUSE)
        if ranks == 2:
            rows.append(_row("2 ranks: show", times["show native"], 0.4))
        else:
            rows.append(
                _row(f"{ranks} ranks: diagnose, both looks and what is between them", times["diagnose native"], 2.5)
            )
            told = f"{faster:.1f} ({times['diagnose gdb']:.1f} s through gdb)"
            name = f"{ranks} ranks: diagnose through gdb / native, without what is between the looks"
            rows.append((name, told, "at least 6", faster >= 6))
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
