"""Calls that send: while they wait, while others are made in them, and when they are left."""

from __future__ import annotations

import platform
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Dict, List

import pytest
from support import cores, recorder
from support.builds import MpiBuild
from support.cli import mpi_queues, pid_options
from support.recorder import Job, Message

#: To the process itself: once before anything else.
TO_SELF = ["MPI_Irecv", "MPI_Send", "MPI_Wait"]
#: As far as the time of a call may lie before it: a tick of the system.
TICK = timedelta(milliseconds=20)
#: What each rank waits in: how many elements, to whom and with which tag.
WAITING = [(7, 1, 8), (1 << 20, 0, 9)]


def _started(build: MpiBuild, way: str, ranks: int) -> Job:
    return Job(build, recorder.compiled(build, "sends.c"), way, ranks=ranks)


def _waiting(build: MpiBuild) -> Job:
    job = _started(build, "waits", 2)
    try:
        for rank in range(2):
            job.waiting(rank, "MPI_Ssend")
    except BaseException:
        job.__exit__(None, None, None)
        raise
    return job


@pytest.mark.usual("debian", "mpich-debian")
def test_a_send_that_waits(any_mpi: MpiBuild) -> None:
    with _waiting(any_mpi) as job:
        lines = recorder.marked_lines("sends.c", "waits */", before="/*")
        for rank, (count, peer, tag) in enumerate(WAITING):
            record, truth = job.record(rank), job.truth[rank]
            call = record.call_of()
            assert call is not None
            told = (call.function, call.count, call.peer, call.tag, call.object, call.datatype)
            assert told == ("MPI_Ssend", count, peer, tag, truth["comm"], truth["datatype"])
            assert recorder.line_of(job.pids[rank], Path(job.program), call.site) == lines[rank]
            assert record.names() == ["MPI_Init", *TO_SELF, "MPI_Issend", "MPI_Ssend"]
            (request,) = record.requests
            assert (request.request, request.function) == (truth["request"], "MPI_Issend")
            assert (request.peer, request.tag, request.count) == (rank, 6, 3)
            assert truth["low"] < request.site <= truth["high"]
            assert record.messages[Message(truth["comm"], False, rank, 3)] == 1


def _began(call: Dict[str, Any]) -> datetime:
    return datetime.fromisoformat(call["began_at"].replace("Z", "+00:00"))


def _check(processes: List[Dict[str, Any]], since: datetime) -> None:
    lines = recorder.marked_lines("sends.c", "waits */", before="/*")
    for rank, (process, wanted) in enumerate(zip(sorted(processes, key=lambda one: int(one["rank"])), WAITING)):
        (thread,) = [one for one in process["history"]["threads"] if one.get("current")]
        last = thread["calls"][-1]
        assert last["number"] == thread["current"] == thread["begun"]
        assert (last["function"], last["count"], last["peer"], last["tag"]) == ("MPI_Ssend", *wanted)
        assert (last["communicator"], last["line"]) == ("MPI_COMM_WORLD", lines[rank])
        # Of a short one the second is known until it is over.
        is_short = platform.machine() == "x86_64" and wanted[0] <= 64
        assert ("." not in last["began_at"]) == is_short, last
        assert all("." in one["began_at"] for one in thread["calls"][:-1])
        times = [_began(one) for one in thread["calls"]]
        assert since <= times[0] and times[:-1] == sorted(times[:-1]) and times[-1] <= datetime.now(timezone.utc)
        assert times[-2] - timedelta(seconds=1 if is_short else 0) <= times[-1]
        (world,) = [one for one in process["history"]["communicators"] if one["name"] == "MPI_COMM_WORLD"]
        sent = {(one["peer"], one["tag"]): one["sent"] for one in world["messages"] if one["sent"]}
        # The message of the call that waits is one of them.
        assert sent == {(rank, 3): 1, (rank, 6): 1, wanted[1:]: 1}


@pytest.mark.usual("mpich-debian")
def test_what_is_told_of_it(any_mpi: MpiBuild) -> None:
    since = datetime.now(timezone.utc) - TICK
    with _waiting(any_mpi) as job:
        _check(recorder.shown(*pid_options(job.pids)), since)


@pytest.mark.slow
def test_what_a_recording_and_core_files_tell_of_it(any_mpi: MpiBuild, tmp_path: Path) -> None:
    since = datetime.now(timezone.utc) - TICK
    with _waiting(any_mpi) as job:
        file = tmp_path / "job.mpirec"
        result = mpi_queues("record", *pid_options(job.pids), "-o", str(file))
        assert result.status == 0, str(result)
        _check(recorder.shown("--recording", str(file)), since)
        named = [cores.gcore(pid, tmp_path / "core") for pid in job.pids]
        words = [word for core in named for word in ("--core", str(core), "--exe", str(job.program))]
        _check(recorder.shown(*words), since)


@pytest.mark.usual("debian", "mpich-debian")
def test_calls_inside_a_send(any_mpi: MpiBuild) -> None:
    with _started(any_mpi, "inside", 1) as job:
        record = job.waiting(0, "MPI_Recv")
        assert record.names() == ["MPI_Init", *TO_SELF, "MPI_Send", *TO_SELF, "MPI_Recv"]
        assert [(one.tag, one.peer) for one in record.calls[0] if one.function == "MPI_Send"] == [
            (3, 0),
            (4, 1000),
            (5, 0),
        ]
    # Once that is over, nothing is told twice.
    with _started(any_mpi, "over", 1) as job:
        record = job.waiting(0, "MPI_Ssend")
        assert record.names() == ["MPI_Init", *TO_SELF, "MPI_Send", *TO_SELF, "MPI_Issend", "MPI_Ssend"]
        assert sorted(one.tag for one in record.messages if not one.received) == [3, 4, 5, 6]


@pytest.mark.usual("debian", "mpich-debian")
def test_a_send_that_is_left(any_mpi: MpiBuild) -> None:
    with _started(any_mpi, "left", 1) as job:
        record = job.waiting(0, "MPI_Ssend")
        # Its frame is gone.
        assert record.names() == ["MPI_Init", *TO_SELF, "MPI_Issend", "MPI_Ssend"]
        assert record.calls[0][-1].number == record.threads[0].calls == 7
