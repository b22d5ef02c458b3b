"""Jobs that ``mpi-queues run`` starts, with the flight recorder under them."""

from __future__ import annotations

import os
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Dict, Sequence

from . import recorder
from .builds import MpiBuild, intel_environment
from .paths import MPI_QUEUES
from .starters import Place


def under(build: MpiBuild, directory: Path) -> MpiBuild:
    """The same MPI, whose launcher is ``mpi-queues run`` first: the recorder is under its jobs."""
    recorder.library()
    script = directory / build.mpirun.name
    if not script.exists():
        script.write_text(f'#!/bin/sh\nexec {shlex.join([str(MPI_QUEUES), "run", "--", str(build.mpirun)])} "$@"\n')
        script.chmod(0o755)
    return replace(build, mpirun=script)


def environment_of(build: MpiBuild) -> Dict[str, str]:
    """What its jobs need."""
    return intel_environment(build) if build.implementation == "Intel MPI" else dict(build.environment)


def ended(
    build: MpiBuild, place: Place, command: Sequence[str], *, recorded: bool, guard: float
) -> subprocess.CompletedProcess[str]:
    """Runs a job to its end, under the recorder or without."""
    return subprocess.run(
        [str(MPI_QUEUES), "run", "--", *command] if recorded else command,
        env={**os.environ, **place.environment, **environment_of(build)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=guard,
        check=False,
    )
