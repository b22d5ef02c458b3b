"""What the flight recorder costs: nanoseconds for each call of an MPI that does nothing, what is left of that on a real
one, and memory."""

from __future__ import annotations

import os
import statistics
import subprocess
from pathlib import Path
from typing import Dict, List, Tuple

from inside import Row
from support import builds, recorder
from support.paths import CACHE, PROJECT
from support.recorder import Job

HERE = Path(__file__).resolve().parent
#: Runs with and without it by turns, since what else the machine does slows both.
PAIRS = 9
#: Jobs that do both. They differ by 1 % by themselves, as their memory lies differently.
JOBS = 25
OPTIMISED = ("-O2",)


def _environment(preload: bool) -> Dict[str, str]:
    found = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return {**found, "LD_PRELOAD": str(recorder.library())} if preload else found


def _calls(program: Path, preload: bool) -> Dict[str, float]:
    run = subprocess.run([str(program)], env=_environment(preload), capture_output=True, text=True, check=True)
    return {name: float(value) for name, value in (line.split() for line in run.stdout.splitlines())}


def _per_call() -> List[Row]:
    folder = CACHE / "programs" / "recorder-bench"
    folder.mkdir(parents=True, exist_ok=True)
    stub, program = folder / "libmpi_stub.so", folder / "calls"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", str(HERE / "recorder_stub.c"), "-o", str(stub)], check=True)
    subprocess.run(
        ["cc", "-O2", str(HERE / "recorder_calls.c"), str(stub), f"-Wl,-rpath,{folder}", "-o", str(program)], check=True
    )
    runs = [(_calls(program, False), _calls(program, True)) for _ in range(PAIRS)]
    rows: List[Row] = []
    for name in runs[0][0]:
        least = [min(run[which][name] for run in runs) for which in (0, 1)]
        added = least[1] - least[0]
        # The last has 32 requests in each MPI_Waitall, each of which is looked up.
        wanted = added <= 30 if name != "isend-waitall" else True
        rows.append(
            (
                f"recorder: {name}",
                f"{added:.1f} ns more a call ({least[0]:.1f} without)",
                "at most 30 ns" if name != "isend-waitall" else "(not asked for)",
                wanted,
            )
        )
    return rows


def _one_way(build: builds.MpiBuild, program: Path, size: int) -> Tuple[float, float, float]:
    """Without and with it (ns), and the ratio: of one job, which does both by turns."""
    options = [] if build.is_mpich else ["-x", "LD_PRELOAD"]
    command = [str(build.mpirun), *options, "-n", "2", str(program), str(size)]
    run = subprocess.run(command, env=_environment(True), capture_output=True, text=True, check=True, cwd=PROJECT)
    without, with_, ratio = run.stdout.split()[-3:]
    return float(without), float(with_), float(ratio)


def _to_and_fro(build: builds.MpiBuild, size: int) -> Tuple[float, float, float]:
    """The same of several jobs: the median of each."""
    program = builds.compile_with(
        [str(build.mpicc)], f"recorder-{build.id}", [HERE / "recorder_pingpong.c"], [], language=OPTIMISED
    )
    jobs = [_one_way(build, program, size) for _ in range(JOBS)]
    without, with_, ratio = (statistics.median(job[which] for job in jobs) for which in range(3))
    return without, with_, ratio


def _memory(build: builds.MpiBuild) -> Row:
    program = recorder.compiled(build, "posts.c")
    with Job(build, program, "1", "150", ranks=2) as job:
        record = job.waiting(0, "MPI_Recv")
        resident = _resident(job.pids[0], record.address)
    return (
        f"recorder under {build.id}: memory of a process",
        f"{record.total_bytes / 2**20:.1f} MB set aside, {resident / 1024:.1f} MB used",
        "at most 8 MB",
        record.total_bytes <= 8 << 20,
    )


def _resident(pid: int, address: int) -> int:
    """What a mapping has in memory (kB)."""
    lines = Path(f"/proc/{pid}/smaps").read_text().splitlines()
    (start,) = [at for at, line in enumerate(lines) if line.startswith(f"{address:x}-")]
    return next(int(line.split()[1]) for line in lines[start:] if line.startswith("Rss:"))


def figure_recorder(build: builds.MpiBuild) -> List[Row]:
    rows = _per_call()
    for one in (build, builds.debian_mpich()):
        for size, most in ((8, 1.03), (65536, 1.03)):
            without, with_, ratio = _to_and_fro(one, size)
            rows.append(
                (
                    f"recorder under {one.id}: {size} bytes one way",
                    f"{with_:.0f} ns / {without:.0f} ns = {ratio:.3f}",
                    "at most 1.03" if size == 8 else "nothing measurable",
                    ratio <= most,
                )
            )
        rows.append(_memory(one))
    return rows
