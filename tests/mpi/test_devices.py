"""Ranks that wait for a GPU, of which stand-ins of its libraries keep the names."""

from __future__ import annotations

import json
from typing import Dict, Tuple

import pytest
from support import priority, processes
from support.builds import C_FLAGS, MpiBuild, compile_with
from support.cli import mpi_queues, pid_options
from support.paths import PROGRAMS

#: What rank 1 does, its environment, and how it is told.
EXPECTED: Dict[str, Tuple[str, Dict[str, str], str]] = {
    "sleeps": ("synchronize", {}, "Rank 1 waits for its GPU (cudaStreamSynchronize) in advance"),
    "spins": (
        "synchronize",
        {"SPINS": "yes"},
        "Rank 1 waits for its GPU (cudaStreamSynchronize) in advance",
    ),
    "query": ("query", {}, "Rank 1 asks again and again for its GPU (cudaStreamQuery) in advance"),
    "nccl": ("nccl", {}, "Rank 1 is in ncclCommInitRank, which waits for other ranks, in advance"),
}


@pytest.mark.parametrize("how", EXPECTED)
@pytest.mark.usual(*EXPECTED)
def test_who_waits_for_a_gpu_is_told_so(debian_mpi: MpiBuild, how: str) -> None:
    does, environment, words = EXPECTED[how]
    place = PROGRAMS / "devices"
    # Without debug information, as those libraries are.
    flags = ["-O1", "-shared", "-fPIC"]
    library = compile_with(["cc"], "devices", [place / "library.c"], flags, language=["-Wall"])
    links = [str(library), f"-Wl,-rpath,{library.parent}"]
    program = compile_with([str(debian_mpi.mpicc)], debian_mpi.id, [place / "uses.c"], links, language=C_FLAGS)
    environment = {**debian_mpi.environment, **environment}
    with priority.Job(program, ranks=2, args=(does,), env=environment, launcher=debian_mpi.mpirun) as job:

        def is_told() -> bool:
            result = mpi_queues("diagnose", *pid_options(job.pids), "--format", "json")
            headline = json.loads(result.out)["verdict"]["headline"]
            return bool(headline.startswith(words) and headline.endswith("while rank 0 waits for it."))

        processes.wait_until(is_told, f"rank 1 to be told: {words}")
