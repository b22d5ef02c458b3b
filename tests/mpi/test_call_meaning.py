"""What the arguments of calls mean: communicators, how far requests are, which operation is a blocking call's own."""

from __future__ import annotations

from typing import Any, Callable, Dict, List

import pytest
from support.builds import MpiBuild
from support.cli import show
from support.jobs import Job

StartJob = Callable[..., Job]
Json = Dict[str, Any]


def _halo(process: Json) -> Json:
    (found,) = [one for one in process["communicators"] if one["name"] == "halo"]
    return found


def _call(process: Json, function: str) -> Json:
    (call,) = [one for one in process["calls"] if one["function"].removeprefix("P") == function]
    return call


def _check(build: MpiBuild, start_job: StartJob, argument: str) -> None:
    job = start_job(build, "truth_calls", argument, ranks=2)
    process = show(job.pids)[job.pids[0]]
    if argument == "recv":
        _receive(process)
    elif argument == "waitall":
        _wait_for_all(process)
    else:
        assert _call(process, "MPI_Barrier")["communicator"] == _halo(process)["unique_id"]
    job.assert_running()


def _receive(process: Json) -> None:
    call, halo = _call(process, "MPI_Recv"), _halo(process)
    assert call["communicator"] == halo["unique_id"]
    meanings = {one["name"]: one.get("meaning") for one in call["arguments"]}
    assert (meanings["comm"], meanings["datatype"]) == ("halo", "MPI_BYTE")
    own: List[Json] = []
    for found in process["communicators"]:
        for receive in found["pending_receives"]["operations"]:
            if receive["call"] == "MPI_Recv":
                own.append({"comm": found["name"], **receive})
            elif not receive["internal"]:
                assert receive["call"] == "MPI_Irecv"
    assert [(one["comm"], one["desired_local_rank"], one["desired_tag"]) for one in own] == [("halo", 1, 17)]


def _wait_for_all(process: Json) -> None:
    call, halo = _call(process, "MPI_Waitall"), _halo(process)
    requests = call["requests"]
    assert [one["index"] for one in requests] == list(range(6))
    assert [one["state"] for one in requests] == ["open", "complete", "null", "inactive", "complete", "open"]
    pending = {one["request"] for one in halo["pending_receives"]["operations"] if one["status"] == "pending"}
    assert {requests[0]["handle"], requests[5]["handle"]} <= pending
    assert "from 1" in requests[0]["summary"] and '"halo"' in requests[0]["summary"]


@pytest.mark.parametrize("argument", ["recv", "waitall", "barrier"])
@pytest.mark.usual("wheel-5*-recv")
def test_calls_of_open_mpi(mpi_build: MpiBuild, start_job: StartJob, argument: str) -> None:
    _check(mpi_build, start_job, argument)


@pytest.mark.parametrize("argument", ["recv", "waitall", "barrier"])
@pytest.mark.usual("mpich-debian-waitall")
def test_calls_of_mpich(mpich_build: MpiBuild, start_job: StartJob, argument: str) -> None:
    _check(mpich_build, start_job, argument)
