"""Jobs of many nodes: the whole command, on virtual nodes of a real Slurm."""

from __future__ import annotations

import time
from typing import List

from inside import Row
from support.builds import MpiBuild, compile_program
from support.cli import mpi_queues
from support.slurm import JOB, Slurm

_NODES, _RANKS = 8, 64

#: Ranks run on for so long between two looks, in seconds.
_BETWEEN = 0.5

#: The best of so many counts.
_RUNS = 3


def figure_slurm(build: MpiBuild) -> List[Row]:
    taken: List[float] = []
    with Slurm(_NODES) as cluster:
        number = cluster.run(compile_program(build, "large_job.c"), _RANKS, JOB, nodes=_NODES, arguments=["tag"])
        for _ in range(_RUNS):
            begun = time.monotonic()
            result = mpi_queues("diagnose", "--job", f"slurm:{number}", environment=cluster.environment)
            taken.append(time.monotonic() - begun)
            assert result.status == 0 and "rank 5 waits for tag 99" in " ".join(result.out.split()), str(result)
    beyond = min(taken) - _BETWEEN
    return [
        (
            f"{_NODES} virtual nodes of Slurm x {_RANKS // _NODES} ranks: the whole command beyond the half second",
            f"{beyond:.1f} s",
            "at most 5 s",
            beyond <= 5,
        )
    ]
