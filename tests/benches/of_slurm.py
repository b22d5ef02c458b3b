"""Jobs of many nodes: the whole command, on virtual nodes of a real Slurm."""

from __future__ import annotations

import time
from typing import List

from inside import Row
from support.builds import MpiBuild, compile_program
from support.cli import mpi_queues
from support.slurm import Slurm
from support.transports import JOB

_NODES, _RANKS = 8, 64

#: Ranks run on for so long between two looks, in seconds.
_BETWEEN = 0.5

#: The best of so many counts.
_RUNS = 3

#: Until all ranks hang, in seconds.
_SETTLING = 120.0


def figure_slurm(build: MpiBuild) -> List[Row]:
    taken: List[float] = []
    with Slurm(_NODES) as cluster:
        program = compile_program(build, "large_job")
        # Virtual nodes are one host, on which each would have the shared memory of the others.
        variables = {**JOB, "OMPI_MCA_btl": "tcp,self"}
        started = time.monotonic()
        number = cluster.run(program, _RANKS, variables, nodes=_NODES, arguments=["tag"])
        # Ranks that share two processors take their time until they hang.
        while len(taken) < _RUNS:
            begun = time.monotonic()
            result = mpi_queues("diagnose", "--job", f"slurm:{number}", environment=cluster.environment)
            ended = time.monotonic()
            assert result.status == 0, str(result)
            if "rank 5 waits for tag 99" in " ".join(result.out.split()):
                taken.append(ended - begun)
            elif ended - started > _SETTLING:
                raise AssertionError(str(result))
    beyond = min(taken) - _BETWEEN
    return [
        (
            f"{_NODES} virtual nodes of Slurm x {_RANKS // _NODES} ranks: the whole command beyond the half second",
            f"{beyond:.1f} s",
            "at most 5 s",
            beyond <= 5,
        )
    ]
