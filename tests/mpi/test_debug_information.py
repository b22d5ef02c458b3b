"""An MPI with debug information is read by the debugger's own types, which come before the shipped profiles."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

import pytest
from support import debug_types
from support.builds import MpiBuild
from support.cli import mpi_queues, pid_options, show
from support.compare import assert_equal
from support.jobs import Job

StartJob = Callable[..., Job]


def _job(start_job: StartJob, build: MpiBuild, types: Any, directory: Path) -> Job:
    library = debug_types.library(types, directory)
    return start_job(build, "truth_modes", ranks=2, options=("-x", f"LD_PRELOAD={library}"))


def test_the_debuggers_types_are_preferred(mpi_build: MpiBuild, start_job: StartJob, tmp_path: Path) -> None:
    types = debug_types.profile(mpi_build.series)["types"]
    job = _job(start_job, mpi_build, types, tmp_path)
    shown = show(job.pids)
    for rank, truth in job.truth.items():
        process = shown[job.pids[rank]]
        assert process["source"]["layouts"] == "debug-info"
        assert_equal(truth, process)
    job.assert_running()


@pytest.mark.slow
def test_types_of_another_build_are_set_aside(mpi_build: MpiBuild, start_job: StartJob, tmp_path: Path) -> None:
    types = debug_types.profile(mpi_build.series)["types"]
    # As if the program carried the structures of a build whose communicator is larger.
    types["ompi_communicator_t"]["size"] += 16
    for field in types["ompi_communicator_t"]["fields"].values():
        field["offset"] += 16
    job = _job(start_job, mpi_build, types, tmp_path)
    shown = show(job.pids)
    for rank, truth in job.truth.items():
        process = shown[job.pids[rank]]
        assert process["source"]["layouts"] == f"profile:openmpi-{mpi_build.series}"
        assert_equal(truth, process)
    check = mpi_queues("layouts", "check", *pid_options(job.pids[:1]))
    assert check.status == 0, str(check)
    assert "ompi_communicator_t" in check.out, f"what was set aside is told, with the difference:\n{check}"
