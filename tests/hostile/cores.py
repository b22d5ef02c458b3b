"""Damaged core files: copies of those of ranks of correct programs, looked at by the command line as a person does.

Of each seed follow: which program, whose core, what is done to it (``core_damage.py``), and what is asked. It
ends with a status, within time and memory, without a word that steers a terminal; and nobody is in a deadlock, whatever
is damaged.
"""

from __future__ import annotations

import functools
import json
import random
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, List, Optional, Sequence, Tuple

from support import builds, cores
from support.diagnosis import Program, load
from support.paths import PROGRAMS

from .core_damage import KINDS, Core
from .guarded import Run
from .typed import Typed, typed

SHORT = range(1)
LONG = range(120)
MPIS = ("openmpi", "mpich")

#: Correct programs in which ranks wait; that of ``make test`` first.
FINE = ("backlog", "one_sleeps", "late_in_collective", "threads_compute")

#: What is asked, by the seed.
LOOKS: Tuple[Tuple[str, ...], ...] = (
    ("diagnose", "--format", "json"),
    ("show",),
    ("diagnose",),
    ("diagnose", "--format", "json"),
    ("record",),
    ("show", "--format", "json"),
    ("diagnose", "-v"),
)

#: For one core.
TIMEOUT = 15


@dataclass(frozen=True)
class Dumped:
    """The ranks of one job, and the program that they ran."""

    program: Program
    executable: Path
    cores: Tuple[Path, ...]
    #: In which they lie, for as long as this lives.
    directory: tempfile.TemporaryDirectory[str]


def runs(seeds: Sequence[int], mpi: Optional[str]) -> Iterator[Run]:
    """One run a seed."""
    for seed in seeds:
        yield _run(seed, mpi or MPIS[0])


def _run(seed: int, mpi: str) -> Run:
    chance = random.Random(seed)
    dumped = _dumped(FINE[seed // len(SHORT) % len(FINE)], mpi)
    kind = KINDS[seed % len(KINDS)]
    look = LOOKS[(seed + seed // len(KINDS)) % len(LOOKS)]
    rank = chance.randrange(len(dumped.cores))
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory) / f"core.{rank}"
        subprocess.run(["cp", "--sparse=always", dumped.cores[rank], place], check=True)
        core = Core(place, dumped.executable)
        detail = kind(core, chance)
        core.file.close()
        # What is diagnosed is all of a job; elsewhere the others have nothing to say.
        named = [place if number == rank else other for number, other in enumerate(dumped.cores)]
        named = named if look[0] == "diagnose" else [place]
        told = ", ".join(filter(None, ((kind.__doc__ or "").strip(), detail)))
        what = f"{seed}: {dumped.program.path.stem}, rank {rank}, {told}; {' '.join(look)}"
        result, problems = _look(look, named, Path(directory), dumped.program)
    return Run(what, tuple(problems), result.seconds, result.outcome)


def _look(look: Tuple[str, ...], named: List[Path], directory: Path, program: Program) -> Tuple[Typed, List[str]]:
    recording = directory / "x.mpirec"
    options = ["--timeout", str(TIMEOUT), *(part for one in named for part in ("--core", str(one)))]
    result = typed([*look, *options, *(["-o", str(recording)] if look[0] == "record" else [])])
    problems = list(result.problems)
    if "json" in look and result.status != 2:
        found = json.loads(result.out)
        problems += program.untrue(found) if look[0] == "diagnose" else []
    elif result.out.startswith("Deadlock"):
        problems.append(result.out[:2000])
    if look[0] == "record" and result.status in (0, 1):
        # What was recorded says no more than what was read.
        again = typed(["diagnose", "--format", "json", "--recording", str(recording)])
        problems += [*again.problems, *program.untrue(json.loads(again.out))]
    return result, problems


@functools.cache
def _dumped(name: str, mpi: str) -> Dumped:
    """The ranks of a correct program where they wait."""
    build = builds.debian_mpich() if mpi == "mpich" else builds.debian()
    program = load(PROGRAMS / "fine" / f"{name}.c", build.is_mpich)
    assert program is not None, name
    directory = tempfile.TemporaryDirectory()
    with program.start(build) as job:
        # Those that wait have come to where they wait, and their messages have arrived.
        time.sleep(1)
        executable = Path(f"/proc/{job.pids[0]}/exe").resolve()
        made = tuple(cores.gcore(pid, Path(directory.name) / "core") for pid in job.pids)
    for core in made:
        # Memory that nobody has touched takes no room.
        subprocess.run(["fallocate", "--dig-holes", core], check=True)
    whole = typed(["diagnose", "--format", "json", *(part for core in made for part in ("--core", str(core)))])
    assert whole.status == 0 and not whole.problems and not program.untrue(json.loads(whole.out)), str(whole)
    return Dumped(program, executable, made, directory)
