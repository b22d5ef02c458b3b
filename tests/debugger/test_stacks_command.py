"""``mpi stacks`` in both debuggers, on a real job. Truth is the markers in odd_rank.c."""

from __future__ import annotations

import json
from typing import Any, List

import pytest
from debuggers import DEBUGGERS, Gdb
from support import processes
from support.builds import MpiBuild
from support.cli import mpi_queues, pid_options
from support.jobs import Job
from support.paths import PROGRAMS

SOURCE = (PROGRAMS / "odd_rank.c").read_text(encoding="utf-8").splitlines()


def line(marker: str) -> int:
    return next(at for at, text in enumerate(SOURCE, 1) if f"/* @{marker} */" in text)


@pytest.fixture(scope="module")
def job(debian_mpi: MpiBuild) -> Any:
    with Job(debian_mpi, "odd_rank", "elsewhere", "1", ranks=3) as job:
        wanted = f"write_output at odd_rank.c:{line('RECV')}"
        processes.wait_until(
            lambda: wanted in mpi_queues("stacks", *pid_options(job.pids)).out, "rank 1 in its receive"
        )
        yield job


@pytest.mark.parametrize("debugger", DEBUGGERS, ids=[debugger.name for debugger in DEBUGGERS])
@pytest.mark.slow
def test_all_processes_of_the_debugger_as_one_tree(debugger: Gdb, job: Job) -> None:
    attach: List[str] = []
    for number, pid in enumerate(job.pids):
        attach += debugger.attach(pid, number)
    commands = (
        "mpi stacks",
        "mpi stacks -format json",
        "mpi stacks -rank 1",
        "mpi stacks -rank 7",
        "mpi stacks -threads",
    )
    outputs = debugger.run(*attach, *commands)[len(attach) :]
    assert outputs[0].splitlines()[-9:] == [
        "Where the main threads of ranks 0-2 stand, outermost first:",
        f"  main at odd_rank.c:{line('STEP')}",
        "  |- ranks 0 and 2 (2 of 3, all but 1)",
        f"  |    step at odd_rank.c:{line('BARRIER')}",
        "  |    MPI_Barrier",
        "  `- rank 1 (1 of 3)",
        f"       step at odd_rank.c:{line('OUTPUT')}",
        f"       write_output at odd_rank.c:{line('RECV')}",
        "       MPI_Recv",
    ]
    content = json.loads(outputs[1])
    assert content["stacks"]["ranks"] == "0-2" and len(content["processes"]) == 3
    assert "Where the main thread of rank 1 stands" in outputs[2] and "MPI_Barrier" not in outputs[2]
    assert "no process of rank 7 was read" in outputs[3]
    assert "(thread 1, 2 of 3, all but 1)" in outputs[4]
    job.assert_running()
