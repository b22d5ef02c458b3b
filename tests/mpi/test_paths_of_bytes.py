"""A program, its source, core files and a recording whose paths are no UTF-8 are found, and shown as text."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from mpi_queues import jobs
from support.builds import MpiBuild
from support.cli import mpi_queues
from support.cores import gcore

SOURCE = """\
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank, first, second;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    alarm(900);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    puts("ready");
    fflush(stdout);
    MPI_Irecv(&first, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&second, 1, MPI_INT, 1 - rank, 8, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses); /* CALL */
    MPI_Finalize();
    return 0;
}
"""
LINE = 1 + SOURCE.split("/* CALL */")[0].count("\n")
NAME = b"caf\xe9"


@pytest.mark.slow
def test_a_program_whose_path_is_no_utf8(debian_mpich: MpiBuild, tmp_path: Path) -> None:
    """Of MPICH a stripped MPI_Waitall has no frame of its own: cores must have its code from the library's file."""
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + NAME))
    folder.mkdir()
    source = folder / os.fsdecode(NAME + b".c")
    source.write_text(SOURCE)
    program = folder / "solver"
    subprocess.run([str(debian_mpich.mpicc), "-g", "-O1", "-o", str(program), str(source)], check=True)
    started = tmp_path / "start"
    # The program is named by the shell: not every launcher takes such an argument.
    started.write_bytes(b'#!/bin/sh\nexec "' + os.fsencode(program) + b'"\n')
    started.chmod(0o755)
    with jobs.Job(started, ranks=2, launcher=debian_mpich.mpirun, timeout=180.0) as job:
        live = ["--job", str(job.launcher_pid)]
        cores = [str(gcore(pid, folder / "core")) for pid in job.pids]
        of_cores = [part for core in cores for part in ("--core", core)]
        recording = str(folder / "run.mpirec")
        assert mpi_queues("record", *live, "-o", recording).status == 0
        assert os.path.exists(recording)
        for target in (live, of_cores, ["--recording", recording]):
            result = mpi_queues("diagnose", *target, "--format", "json")
            said = json.loads(result.out)
            assert any(one["kind"] == "deadlock" for one in said["diagnosis"]), str(result)
            for process in said["processes"]:
                (call,) = process["calls"]
                assert (call["function"], call["line"]) == ("MPI_Waitall", LINE), call
                assert process["executable"] == f"{tmp_path}/caf\\xe9/solver", process["executable"]
            assert "Traceback" not in result.err, result.err
