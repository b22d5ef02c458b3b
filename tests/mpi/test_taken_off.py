"""Ranks that an exception of C++, a signal or exit took off their way, and for which the others wait."""

from __future__ import annotations

import json
from typing import Any, Dict, List

import pytest
from support import processes
from support.builds import MpiBuild, compile_alone
from support.cli import mpi_queues
from support.jobs import TruthfulJob

#: State, name and function of what is told of rank 1.
EXPECTED = {
    "unwinding": ("unwinding", "", "unwind"),
    "caught": ("handled", "std::out_of_range", None),
    "terminate": ("unhandled", "int", "be_taken_off"),
    "heap": ("signal", "SIGABRT", "damage_the_heap"),
    "exit": ("ending", "exit", "be_taken_off"),
}


@pytest.mark.parametrize("how", EXPECTED)
@pytest.mark.usual("*")
def test_what_took_a_rank_off_its_way(debian_mpi: MpiBuild, how: str) -> None:
    program = compile_alone(debian_mpi, "taken_off.cc")
    job = TruthfulJob(program, ranks=3, args=(how,), env=debian_mpi.environment, launcher=debian_mpi.mpirun)
    with job:
        told: List[Dict[str, Any]] = []

        def found() -> bool:
            result = mpi_queues("diagnose", "--once", "--format", "json", "--job", str(job.launcher_pid))
            assert result.status in (0, 1), str(result)
            content = json.loads(result.out)
            told[:] = [one for finding in content["diagnosis"] for one in finding.get("exceptions", [])]
            return bool(told)

        processes.wait_until(found, f"rank 1 to be told: {told}")
        (one,) = told[:1]
        assert (one["state"], one["name"], one["function"], one["ranks"]) == (*EXPECTED[how], [1])
        if how == "heap":
            assert one["handler"] == "handle" and one["within"] in ("malloc", "free"), one
