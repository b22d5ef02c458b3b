"""Processes of every kind under the flight recorder: threads, forks, MPIs that are loaded later, tools, no MPI."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Dict, Optional

import pytest
from support import recorder
from support.builds import MpiBuild, compile_with, intel_environment
from support.jobs import READY_TIMEOUT
from support.paths import PROGRAMS
from support.python_jobs import PYTHON, mpi4py_of_wheel
from support.recorder import Job

HERE = PROGRAMS / "recorder"


def _library(build: MpiBuild, source: str, *flags: str) -> Path:
    return recorder.compiled(build, source, "-shared", "-fPIC", *flags)


@pytest.mark.parametrize("threads", [12, 80])
@pytest.mark.usual("debian-12", "debian-80", "mpich-debian-12", "mpich-debian-80")
def test_threads(any_mpi: MpiBuild, threads: int) -> None:
    program = recorder.compiled(any_mpi, "threads.c", "-lpthread")
    with Job(any_mpi, program, str(threads), ranks=1) as job:
        record, truth = job.waiting(0, "MPI_Recv"), job.truth[0]
        held = dict(map(tuple, truth["threads"]))
        recorded = [one for one in record.threads if one.state != recorder.FREE]
        assert len(recorded) == min(64, threads + 1 + len(truth["later"]))
        # With all rows taken, those that came last have none, which is told.
        assert record.lost["lost_threads"] == max(0, threads + 1 - 64)
        assert (record.lost["lost_calls"] > 0) == (threads > 63)
        assert record.lost["lost_requests"] == 0
        # What was completed is closed, whoever was given the same handle meanwhile; what is open is a thread's own.
        found = [one.request for one in record.requests]
        assert len(found) == len(set(found)) == min(threads, 63)
        assert set(found) <= set(held.values())
        assert {one.tag for one in record.requests} <= set(range(1000, 1000 + threads))
        # Rows of threads that have ended are used again.
        live = {one.id for one in record.threads if one.state == recorder.LIVE}
        assert live == {record.pid, *truth["later"]}
        for at, thread in enumerate(record.threads):
            if thread.id in truth["later"] and thread.state == recorder.LIVE:
                assert record.names(at)[-1] == "MPI_Iprobe" and thread.current == 0


def _of_child(pid: int) -> recorder.Record:
    """That of a process that was forked, once it has run."""
    deadline = time.monotonic() + READY_TIMEOUT
    while True:
        record = recorder.of_pid(pid)
        assert record is not None
        if record.pid == pid:
            return record
        assert time.monotonic() < deadline, record.pid
        time.sleep(0.01)


@pytest.mark.usual("debian", "mpich-debian")
def test_a_fork(any_mpi: MpiBuild) -> None:
    program = recorder.compiled(any_mpi, "forks.c")
    with Job(any_mpi, program, ranks=1) as job:
        record = job.waiting(0, "MPI_Recv")
        child = _of_child(job.truth[0]["child"])
        assert (record.forked_from, record.pid) == (0, job.pids[0])
        assert (child.forked_from, child.pid) == (job.pids[0], job.truth[0]["child"])
        assert child.names() == ["MPI_Init", "MPI_Irecv"]
        assert record.names() == ["MPI_Init", *["MPI_Irecv"] * 4, "MPI_Recv"]
        assert [one.tag for one in record.requests] == [1, 2, 3, 4] and [one.tag for one in child.requests] == [1]


@pytest.mark.usual("debian", "mpich-debian")
def test_an_mpi_that_is_loaded_later(any_mpi: MpiBuild) -> None:
    library = _library(any_mpi, "loads.c", "-DLIBRARY")
    program = compile_with(["cc"], "recorder", [HERE / "loads.c"], ["-ldl"])
    with Job(any_mpi, program, str(library), ranks=2) as job:
        for rank in range(2):
            record, truth = job.waiting(rank, "MPI_Recv"), job.truth[rank]
            # Before that there was no MPI, and the program was told of none.
            assert truth["seen"] == 0
            (one,) = record.requests
            assert (one.request, one.tag) == (truth["request"], 1234)
            assert truth["low"] < one.site <= truth["high"]
            assert record.world_rank == rank


@pytest.mark.usual("debian", "mpich-debian")
def test_a_tool_is_called(any_mpi: MpiBuild) -> None:
    tool, program = _library(any_mpi, "tool.c"), recorder.compiled(any_mpi, "few.c")
    with Job(any_mpi, program, ranks=1, before=[tool]) as job:
        record = job.waiting(0, "MPI_Recv")
        assert job.truth[0]["tool"] == 3
        assert record.names() == ["MPI_Init", "MPI_Irecv", "MPI_Irecv", "MPI_Recv"]
        assert [one.tag for one in record.requests] == [1, 2]


@pytest.mark.usual("debian", "mpich-debian")
def test_a_program_that_is_a_tool_itself_is_told(any_mpi: MpiBuild) -> None:
    program = recorder.compiled(any_mpi, "few.c", "-DTOOL")
    with Job(any_mpi, program, ranks=1) as job:
        record = job.record()
        assert record.lost["bypassed"] == 1
        assert "has MPI_Init in itself: nothing is recorded" in job.output


@pytest.mark.usual("debian", "mpich-debian")
def test_functions_that_the_mpi_lacks(any_mpi: MpiBuild) -> None:
    program = recorder.compiled(any_mpi, "few.c")
    with Job(any_mpi, program, ranks=1, recorded=False) as job:
        without = {name: job.truth[0][name] for name in ("sessions", "nothing")}
    with Job(any_mpi, program, "finalize", ranks=1) as job:
        assert {name: job.truth[0][name] for name in ("sessions", "nothing")} == without
        _until_finalized(job)


def _until_finalized(job: Job) -> None:
    while job.record().stage != recorder.FINALIZED:
        pass
    record = job.record()
    assert record.names()[-1] == "MPI_Finalize" and record.requests == []


@pytest.mark.usual("debian", "mpich-debian")
def test_calls_that_are_left_otherwise(any_mpi: MpiBuild) -> None:
    program = recorder.compiled(any_mpi, "leaves.cc")
    with Job(any_mpi, program, ranks=1) as job:
        assert job.truth[0]["caught"] == 7 and job.truth[0]["frames"] > 3
        record = job.record()
        assert record.names() == ["MPI_Init", "MPI_Send", "MPI_Send", "MPI_Barrier"]
        assert record.threads[0].current == 0


@pytest.mark.usual("debian", "mpich-debian")
def test_more_than_there_is_room_for(any_mpi: MpiBuild) -> None:
    program = recorder.compiled(any_mpi, "many.c")
    with Job(any_mpi, program, "600", "17000", "0", ranks=1) as job:
        record = job.waiting(0, "MPI_Recv")
        lost = record.lost
        live = [one for one in record.live() if one.handle]
        assert len(live) + lost["lost_communicators"] >= 602 and lost["lost_communicators"] >= 602 - 512
        assert len(record.requests) + lost["lost_requests"] == 17000 and len(record.requests) > 15000
        assert {one.tag for one in record.requests} == {6}


@pytest.mark.usual("debian", "mpich-debian")
def test_more_than_one_call_can_remember(any_mpi: MpiBuild) -> None:
    program = recorder.compiled(any_mpi, "many.c")
    with Job(any_mpi, program, "0", "0", "9000", ranks=1) as job:
        record = job.waiting(0, "MPI_Recv")
        # Where a request finds a row, and whether it does, is chance: its address tells.
        assert 9000 - 8192 - record.lost["lost_requests"] <= record.lost["early_requests"] <= 9000 - 8192
        assert record.lost["lost_requests"] < 100
        assert not record.requests


def test_a_ring_goes_round(debian_mpich: MpiBuild) -> None:
    program = recorder.compiled(debian_mpich, "many.c")
    with Job(debian_mpich, program, "0", "300", "0", ranks=1, env={"MPI_QUEUES_RECORDER_CALLS": "100"}) as job:
        record = job.waiting(0, "MPI_Recv")
        assert record.threads[0].capacity == 128
        last = record.threads[0].calls
        assert [one.number for one in record.calls[0]] == list(range(last - 127, last + 1))


def _of_python(build: MpiBuild, python: Path, env: Dict[str, Optional[str]]) -> None:
    with Job(build, python, str(HERE / "python.py"), ranks=2, env=env) as job:
        identities = []
        for rank in range(2):
            record, truth = job.waiting(rank, "MPI_Recv"), job.truth[rank]
            told = [(one.request, one.peer, one.tag, one.count, one.object) for one in record.requests]
            assert told == [
                (truth["open"][0], 0, 1017, 5, truth["copy"]),
                (truth["open"][1], 1, 1018, 6, truth["world"]),
            ]
            found = {one.handle: one for one in record.live()}
            copy = found[truth["copy"]]
            assert not copy.flags & (recorder.OWN_NAME | recorder.NOT_SEEN_MADE)
            assert copy.latest[0].function == "MPI_Barrier"
            identities.append((copy.identity, copy.order))
        assert identities[0] == identities[1]


def test_mpi4py_of_the_distribution(debian_mpi: MpiBuild) -> None:
    _of_python(debian_mpi, PYTHON, {})


@pytest.mark.usual("debian", "mpich-debian")
def test_mpi4py_of_the_index(any_mpi: MpiBuild) -> None:
    if any_mpi.implementation == "Intel MPI":
        # It has the ABI of MPICH.
        python, _ = mpi4py_of_wheel(replace(any_mpi, implementation="MPICH"))
        env = {**intel_environment(any_mpi), "MPI4PY_MPIABI": "mpich"}
    else:
        python, env = mpi4py_of_wheel(any_mpi)
    _of_python(any_mpi, python, dict(env))


@pytest.mark.parametrize("flags", [(), ("-O2", "-Wl,-z,now"), ("-O2", "-fno-pie", "-no-pie")])
def test_a_program_without_mpi(flags: tuple[str, ...]) -> None:
    program = compile_with(["cc"], "recorder", [HERE / "without.c"], ["-ldl", *flags])
    plain = subprocess.run([str(program)], capture_output=True, text=True, check=True)
    environment = {**os.environ, "LD_PRELOAD": str(recorder.library())}
    under = subprocess.run([str(program)], capture_output=True, text=True, check=True, env=environment)
    assert (under.stdout, under.stderr) == (plain.stdout, plain.stderr)
    assert plain.stdout.split() == ["0", "0", "0", "0", "said", "why", "0"]


@pytest.mark.parametrize("rank", [False, True])
def test_other_programs_run_as_they_would(rank: bool) -> None:
    environment = {**os.environ, "LD_PRELOAD": str(recorder.library()), **({"PMI_RANK": "0"} if rank else {})}
    for command in (["sh", "-c", "echo one; ls -d /"], [sys.executable, "-c", "import ctypes, socket; print(2)"]):
        plain = subprocess.run(command, capture_output=True, text=True, check=True)
        under = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        assert (under.stdout, under.stderr) == (plain.stdout, plain.stderr)


@pytest.mark.usual("debian", "mpich-debian")
def test_the_recorder_linked_into_a_program(any_mpi: MpiBuild) -> None:
    library = recorder.library()
    program = recorder.compiled(any_mpi, "few.c", str(library), f"-Wl,-rpath,{library.parent}")
    with Job(any_mpi, program, ranks=1, recorded=False) as job:
        record = job.waiting(0, "MPI_Recv")
        assert record.names() == ["MPI_Init", "MPI_Irecv", "MPI_Irecv", "MPI_Recv"]
        assert not any(record.lost.values()) and [one.tag for one in record.requests] == [1, 2]
