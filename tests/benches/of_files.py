"""What an agent reads of files: of a program with as much debug information as large programs have."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import List, Tuple

from mpi_queues import jobs
from mpi_queues.system import agent
from support.builds import MpiBuild
from support.paths import PROGRAMS

#: The same unit so many times: its code is folded, its debug information is not.
_UNITS = 200

_RANKS = 2

#: Until all ranks hang, in seconds.
_SETTLING = 3.0

Row = Tuple[str, str, str, bool]


def figure_files(build: MpiBuild) -> List[Row]:
    rows: List[Row] = []
    with tempfile.TemporaryDirectory() as name:
        for flag in ("-O0", "-O2"):
            program = _program(build, Path(name), flag)
            size = program.stat().st_size
            with jobs.Job(program, ranks=_RANKS, launcher=build.mpirun, timeout=180, args=["0"]) as job:
                time.sleep(_SETTLING)
                seconds, read = _read(job.pids)
            told = f"{read / 1e6:.0f} MB of files, {100 * read / size:.0f}% of the program, in {seconds:.2f} s"
            what = f"an agent's look at {_RANKS} ranks of a program of {size / 1e6:.0f} MB, {flag}"
            rows.append((what, told, "(not asked for)", True))
    return rows


def _program(build: MpiBuild, directory: Path, flag: str) -> Path:
    def run(*words: object) -> None:
        subprocess.run([str(word) for word in words], check=True, cwd=directory)

    unit = directory / "unit.o"
    if not unit.exists():
        run("g++", "-std=c++17", "-g", "-O0", "-c", PROGRAMS / "large_unit.cc", "-o", unit)
        for number in range(_UNITS):
            run("objcopy", f"--redefine-sym=_Z9of_a_uniti=of_a_unit_{number}", unit, f"unit{number}.o")
    program = directory / f"program{flag}"
    run(build.mpicc, "-g", flag, "-c", PROGRAMS / "calls_pingpong.c", "-o", "main.o")
    objects = [directory / f"unit{number}.o" for number in range(_UNITS)]
    run(build.mpicc.with_name("mpicxx"), "-o", program, "main.o", *objects, "-lpthread")
    return program


def _read(pids: List[int]) -> Tuple[float, int]:
    """Seconds of an agent that reads these, and the bytes that it reads of files and memory."""
    named = [word for pid in pids for word in ("--pid", str(pid))]
    begun = time.perf_counter()
    process = subprocess.Popen([str(agent.path()), "diagnose", *named], stdout=subprocess.DEVNULL)
    # It is over, and the kernel still knows what it read.
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    seconds = time.perf_counter() - begun
    told = dict(line.split(": ") for line in Path(f"/proc/{process.pid}/io").read_text().splitlines())
    assert process.wait() == 0
    return seconds, int(told["rchar"])
