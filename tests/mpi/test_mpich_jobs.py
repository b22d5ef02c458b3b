"""Jobs under MPICH's launcher, and that they leave nothing behind."""

from __future__ import annotations

import os
import sys

import pytest
from mpi_queues import jobs
from mpi_queues.keeper import memory as job_memory
from support.builds import MpiBuild
from support.jobs import Job

_READY = (
    "import os, time; print('PMI', os.environ['PMI_RANK'], flush=True); print('ready', flush=True); time.sleep(1000)"
)


def test_hydra_starts_any_program(debian_mpich: MpiBuild) -> None:
    with jobs.Job(sys.executable, ranks=3, args=["-c", _READY], launcher=debian_mpich.mpirun) as job:
        assert len(set(job.pids)) == 3 and all(os.path.exists(f"/proc/{pid}") for pid in job.pids)
        assert job.output.splitlines() == ["PMI 0", "ready", "PMI 1", "ready", "PMI 2", "ready"]
    assert not any(os.path.exists(f"/proc/{pid}") for pid in (*job.pids, job.launcher_pid))


@pytest.mark.usual("mpich-debian", "mpich-wheel-*")
def test_killed_ranks_leave_no_shared_memory(mpich_build: MpiBuild) -> None:
    with Job(mpich_build, "truth_probe", ranks=2) as job:
        mapped = job_memory.mapped_by(job.pids)
    assert not [file for file in mapped if os.path.exists(file)]
