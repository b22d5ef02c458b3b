"""What is shown of real jobs on MPICH is what their programs say they posted, as far as it can be known there."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest
from support import truths
from support.builds import BUILDS, MpiBuild
from support.cli import mpi_queues as command_line
from support.cli import pid_options, show
from support.compare import assert_equal, lasting
from support.cores import gcore
from support.jobs import Job
from support.known import known_of
from support.truths import Program, name_of

StartJob = Callable[..., Job]

PROGRAMS: List[Program] = [*truths.PROGRAMS, ("truth_tvtest", ("freed",), 2)]


def _assert_equal_to_truth(job: Job, shown: Dict[int, Any]) -> None:
    assert sorted(shown) == sorted(job.pids)
    for rank, truth in sorted(job.truth.items()):
        process = shown[job.pids[rank]]
        assert process["source"]["kind"] == "builtin"
        assert process["mpi"]["implementation"] == "MPICH"
        assert process["mpi"]["version"] == job.build.version
        assert process["executable"] == str(job.program)
        assert_equal(truth, process, known=known_of(job.build.id))


@pytest.mark.parametrize("program", PROGRAMS, ids=name_of)
@pytest.mark.usual(
    "mpich-debian-collective-ibarrier-4ranks",
    "mpich-debian-threads-2ranks",
    "mpich-debian-random-1-200-3ranks",
    "mpich-wheel-*-comms-4ranks",
    "mpich-wheel-*-persistent-3ranks",
)
def test_snapshot_equals_what_was_posted(mpich_build: MpiBuild, start_job: StartJob, program: Program) -> None:
    name, arguments, ranks = program
    job = start_job(mpich_build, name, *arguments, ranks=ranks)
    shown = show(job.pids)
    _assert_equal_to_truth(job, shown)
    job.assert_running()
    for rank, truth in job.truth.items():
        if truth["call"] is not None:
            calls = [call["function"].removeprefix("P") for call in shown[job.pids[rank]]["calls"]]
            # Never another one, unless several threads are in MPI; none at all only where the table says so.
            exact = known_of(mpich_build.id).is_exact("processes.call")
            told = truth["call"] in calls or (len(calls) != 1 and not exact)
            assert told, f"rank {rank} is in {truth['call']}, shown are {calls}"


def _comparable(process: Dict[str, Any]) -> Dict[str, Any]:
    """What lasts, without the machine's name, which no memory of MPICH's ranks holds."""
    return {**lasting(process), "host": None}


@pytest.mark.slow
def test_every_kind_of_target_gives_the_same(mpich_build: MpiBuild, start_job: StartJob, tmp_path: Path) -> None:
    job = start_job(mpich_build, "truth_comms", ranks=3)
    first = show(job.pids)
    _assert_equal_to_truth(job, first)
    cores = [
        part for pid in job.pids for part in ("--core", str(gcore(pid, tmp_path / "core")), "--exe", str(job.program))
    ]
    recording = tmp_path / "all.mpirec"
    result = command_line("record", *pid_options(job.pids), "-o", str(recording))
    assert result.status == 0, str(result)
    for target in (cores, ["--recording", str(recording)]):
        result = command_line("show", *target, "--format", "json")
        assert result.status == 0, str(result)
        found = {process["pid"]: process for process in json.loads(result.out)["processes"]}
        for pid in job.pids:
            assert _comparable(found[pid]) == _comparable(first[pid]), target
    job.assert_running()


@pytest.mark.slow
def test_reading_twice_gives_the_same(mpich_build: MpiBuild, start_job: StartJob) -> None:
    job = start_job(mpich_build, "truth_persistent", ranks=2)
    first, second = show(job.pids), show(job.pids)
    for pid in job.pids:
        assert first[pid]["communicators"] == second[pid]["communicators"]
    job.assert_running()


@pytest.mark.parametrize("program", [("truth_persistent", (), 2), ("truth_random", ("3", "200"), 2)], ids=name_of)
@pytest.mark.slow
def test_a_stripped_library_with_lists_for_debuggers_is_told_from_one_without(
    preflight: None, start_job: StartJob, tmp_path: Path, program: Program
) -> None:
    """Their requests are of one size, and their persistent ones name the transfer at different places."""
    build = BUILDS["mpich-ch3-4.0.2"]()
    library = build.mpicc.parent.parent / "lib" / "libmpi.so.12"
    subprocess.run(["strip", "--strip-all", "-o", str(tmp_path / library.name), str(library)], check=True)
    name, arguments, ranks = program
    job = start_job(build, name, *arguments, ranks=ranks, env={"LD_LIBRARY_PATH": str(tmp_path)})
    shown = show(job.pids)
    _assert_equal_to_truth(job, shown)
    for process in shown.values():
        assert process["mpi"]["library"] == str(tmp_path / library.name)
        assert process["source"]["layouts"] == "profile:mpich-4.0-ch3-nemesis-debuginfo"
    job.assert_running()
