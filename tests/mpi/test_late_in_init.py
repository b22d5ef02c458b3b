"""Jobs of which no rank has come through MPI_Init. Truth is the markers in late_in_init.c."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Iterator

import pytest
from support import agent, cores, processes
from support.builds import MpiBuild
from support.cli import mpi_queues, pid_options
from support.jobs import Job
from support.paths import PROGRAMS

SOURCE = (PROGRAMS / "late_in_init.c").read_text(encoding="utf-8").splitlines()
RANKS, LATE = 3, 1


def line(marker: str) -> int:
    return next(at for at, text in enumerate(SOURCE, 1) if f"/* @{marker} */" in text)


def started(build: MpiBuild, late: int) -> Job:
    return Job(build, "late_in_init", str(late), ranks=RANKS)


def diagnosis(*target: str, status: int = 0) -> Any:
    result = mpi_queues("diagnose", *target, "--format", "json")
    assert result.status == status, str(result)
    return json.loads(result.out)


def assert_told(content: Any) -> None:
    """Who is late and where, and who waits for it."""
    (finding,) = content["diagnosis"]
    assert (finding["kind"], finding["ranks"]) == ("slow rank", [LATE]), finding
    assert f"rank {LATE} has not called MPI_Init yet and is in read_mesh (" in finding["summary"]
    assert [call["line"] for call in finding["calls"] if call["rank"] == LATE] == [line("LATE")]
    waiting = {(call["rank"], call["function"], call["line"]) for call in finding["calls"] if call["rank"] != LATE}
    assert waiting == {(rank, "MPI_Init", line("INIT")) for rank in (0, 2)}
    stages = {process["rank"]: process["stage"] for process in content["processes"]}
    assert stages == dict.fromkeys(range(RANKS), "not_initialized")


def all_wait(job: Job) -> bool:
    content = diagnosis(*pid_options(job.pids))
    return [len(finding["calls"]) for finding in content["diagnosis"]] == [RANKS]


@pytest.fixture(scope="module", params=["debian_mpi", "wheel_mpi", "debian_mpich"])
def job(request: pytest.FixtureRequest) -> Iterator[Job]:
    with started(request.getfixturevalue(request.param), LATE) as job:
        processes.wait_until(lambda: all_wait(job), "the others to be in MPI_Init")
        yield job


@pytest.mark.usual("wheel_mpi", "debian_mpich")
def test_who_is_late_is_told(job: Job) -> None:
    assert_told(diagnosis(*pid_options(job.pids)))
    job.assert_running()


def test_in_words(job: Job) -> None:
    result = mpi_queues("diagnose", *pid_options(job.pids))
    told = " ".join(result.out.split())
    assert (result.status, result.err) == (0, ""), str(result)
    assert told.startswith(f"Rank {LATE} has not called MPI_Init yet and is in read_mesh (")
    assert "while ranks 0 and 2 wait for it." in told and f"waits for rank {LATE} to enter MPI_Init" in told
    # There are none.
    assert "queues" not in told.replace("mpi-queues", "")


@pytest.mark.slow
def test_recordings_and_core_files_tell_the_same(job: Job, tmp_path: Path) -> None:
    recording = tmp_path / "late.mpirec"
    # Each of them is said to be before MPI_Init.
    assert mpi_queues("record", *pid_options(job.pids), "-o", str(recording)).status == 1
    assert_told(diagnosis("--recording", str(recording)))
    found = [word for pid in job.pids for word in ("--core", str(cores.gcore(pid, tmp_path / f"core.{pid}")))]
    assert_told(diagnosis(*found))


@pytest.mark.usual("debian_mpi")
def test_the_agent_tells_the_same(job: Job) -> None:
    result = agent.agent("diagnose", *pid_options(job.pids))
    assert_told(json.loads(result.out))


@pytest.mark.usual("debian_mpich")
def test_queues_are_not_shown(job: Job) -> None:
    result = mpi_queues("show", *pid_options(job.pids))
    assert (result.status, result.out) == (3, ""), str(result)
    assert result.err.count("MPI is not initialised in this process") == RANKS, str(result)


def test_where_none_has_called_it(debian_mpi: MpiBuild) -> None:
    with started(debian_mpi, -1) as job:
        content = diagnosis(*pid_options(job.pids))
        assert content["diagnosis"] == [], content
        assert content["verdict"]["headline"] == "Nobody is stuck as far as can be seen: 3 ranks outside MPI."


@pytest.mark.slow
def test_a_watch_gives_the_alarm(job: Job, tmp_path: Path) -> None:
    result = mpi_queues("watch", str(job.launcher_pid), "--after", "2s", "--idle", "-o", str(tmp_path))
    assert result.status == 75, str(result)
    assert_told(json.loads((tmp_path / "diagnosis.json").read_text(encoding="utf-8")))
