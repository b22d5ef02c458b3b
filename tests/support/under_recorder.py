"""Jobs that ``mpi-queues run`` starts, with the flight recorder under them."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Dict

from . import recorder
from .builds import MpiBuild, intel_environment
from .paths import MPI_QUEUES


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
