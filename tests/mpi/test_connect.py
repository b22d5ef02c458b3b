"""Two jobs that MPI_Comm_accept, MPI_Comm_connect and MPI_Comm_join bring together, on real MPIs."""

from __future__ import annotations

import json
from typing import Any, Dict, Iterator, List, Sequence

import pytest
from support import builds, processes
from support.cli import mpi_queues as run
from support.cli import pid_options
from support.compare import compare
from support.connected import SIZES, ConnectedJobs
from support.known import ALL_KNOWN, Known, OverNetwork

#: MPIs whose jobs can connect: Open MPI 5 has no server in which two launchers find one another.
CONNECTING = (builds.OPENMPI_4, "mpich-ch3-4.0.2", builds.MPICH_WHEEL)


@pytest.fixture(scope="module", params=CONNECTING)
def connected(request: pytest.FixtureRequest, preflight: None) -> Iterator[ConnectedJobs]:
    with ConnectedJobs(builds.BUILDS[request.param]()) as jobs:
        yield jobs


def _known(jobs: ConnectedJobs) -> Known:
    """Jobs do not share memory: ch4's messages between them go over the network."""
    return OverNetwork() if jobs.build.is_mpich and "ch3" not in jobs.build.id else ALL_KNOWN


def _read(*options: str) -> Dict[str, Any]:
    result = run("show", *options, "--format", "json")
    assert result.status == 0, str(result)
    snapshot: Dict[str, Any] = json.loads(result.out)
    return snapshot


def _assert_truth(jobs: ConnectedJobs, snapshot: Dict[str, Any]) -> None:
    # Every process once, by its place in the universe; nobody spawned the other world.
    assert [process["pid"] for process in snapshot["processes"]] == jobs.all_pids
    assert [process["universe_rank"] for process in snapshot["processes"]] == list(range(sum(SIZES)))
    assert [process["world"] for process in snapshot["processes"]] == [0, 0, 1, 1, 1]
    assert [(world["size"], world["first"], world["parent"]) for world in snapshot["worlds"]] == [
        (2, 0, None),
        (3, 2, None),
    ]
    truth = jobs.in_universe()
    for process in snapshot["processes"]:
        assert process["problems"] == []
        different = compare(truth[process["pid"]], process, known=_known(jobs))
        # A queue may say that it is not known, where messages leave the node.
        wrong = [one for one in different if (one.kind, one.found) != ("state", "no_information")]
        assert wrong == [], "\n".join(map(str, wrong))
        if _known(jobs) is ALL_KNOWN:
            assert different == []


def _job_options(launchers: Sequence[int]) -> List[str]:
    return [part for pid in launchers for part in ("--job", str(pid))]


@pytest.mark.usual("mpich-wheel-*")
def test_all_processes_are_what_they_say(connected: ConnectedJobs) -> None:
    _assert_truth(connected, _read(*pid_options(connected.all_pids)))
    for pid in connected.all_pids:
        processes.assert_running(pid)


@pytest.mark.slow
def test_two_jobs_are_read_by_their_launchers(connected: ConnectedJobs) -> None:
    launchers = [connected.accepting.launcher_pid, connected.connecting.launcher_pid]
    # A job that is named twice is read once.
    _assert_truth(connected, _read(*_job_options([*launchers, launchers[0]])))


@pytest.mark.slow
def test_the_worlds_of_the_job_that_is_named_first_are_first(connected: ConnectedJobs) -> None:
    launchers = [connected.connecting.launcher_pid, connected.accepting.launcher_pid]
    snapshot = _read(*_job_options(launchers))
    assert [process["pid"] for process in snapshot["processes"]] == connected.all_pids[2:] + connected.all_pids[:2]
    assert [process["world"] for process in snapshot["processes"]] == [0, 0, 0, 1, 1]
    assert [(world["size"], world["first"]) for world in snapshot["worlds"]] == [(3, 0), (2, 3)]
    (comm,) = [one for one in snapshot["processes"][3]["communicators"] if one["name"] == "connected"]
    assert (comm["group"], comm["remote_group"]) == ([3, 4], [0, 1, 2])
    (merged,) = [one for one in snapshot["processes"][0]["communicators"] if one["name"] == "merged"]
    assert merged["group"] == [3, 4, 0, 1, 2]


@pytest.mark.slow
def test_of_one_job_alone_the_others_are_named_beside_it(connected: ConnectedJobs) -> None:
    snapshot = _read("--job", str(connected.connecting.launcher_pid))
    assert "worlds" not in snapshot
    for rank, process in enumerate(snapshot["processes"]):
        assert (process["rank"], process["pid"]) == (rank, connected.worlds[1, rank]["pid"])
        comms = {comm["name"]: comm for comm in process["communicators"]}
        assert comms["MPI_COMM_WORLD"]["group"] == [0, 1, 2]
        assert comms["connected"]["remote_group"] == [None, None]
        (others,) = comms["connected"]["elsewhere"]
        assert (others["remote"], others["local_rank"], others["count"], others["rank"]) == (True, 0, 2, 0)
        assert others["world_key"] != process["world_key"]
        assert comms["merged"]["group"] == [None, None, 0, 1, 2]
        for queue in ("pending_sends", "pending_receives", "unexpected_messages"):
            for operation in comms["connected"][queue]["operations"]:
                assert operation["desired_global_rank"] is None
    assert snapshot["processes"][2]["communicators"][-1]["name"] == "joined"
    text = run("comms", "--job", str(connected.connecting.launcher_pid))
    assert text.status == 0, str(text)
    assert f"  0-2 | remote another world ({others['world_key']})"[:40] in text.out
    assert f"  another world ({others['world_key']}): 0,1; 0-2\n" in text.out
