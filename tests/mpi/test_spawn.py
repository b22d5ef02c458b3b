"""Jobs of several worlds: MPI_Comm_spawn on real MPIs."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Callable, Dict, Iterator

import mpi_queues
import pytest
from support import builds, processes
from support.builds import MpiBuild, compile_with
from support.cli import mpi_queues as run
from support.cli import pid_options
from support.compare import compare
from support.known import ALL_KNOWN, Known, OverNetwork, known_of
from support.paths import PROGRAMS
from support.worlds import WorldsJob

#: MPIs whose worlds have names in memory.
NAMED = (builds.DEBIAN, builds.WHEEL, "mpich-ch3-4.0.2", builds.MPICH_WHEEL)
#: Two parents, their three children, and the child of one of these.
SIZES = (2, 3, 1)


@pytest.fixture(scope="module", params=NAMED)
def spawned(request: pytest.FixtureRequest, preflight: None) -> Iterator[WorldsJob]:
    with WorldsJob(builds.BUILDS[request.param](), "truth_spawn", sizes=SIZES) as job:
        yield job


def _known(build: MpiBuild) -> Known:
    if not build.is_mpich:
        return ALL_KNOWN
    # Worlds do not share memory: ch4's messages between them go over the network.
    return known_of(build.id) if "ch3" in build.id else OverNetwork()


def _assert_truth(job: WorldsJob, snapshot: Dict[str, object]) -> None:
    read = snapshot["processes"]
    assert isinstance(read, list)
    # Every process once, by its place in the universe, the first world's before the others.
    assert [process["pid"] for process in read] == job.all_pids
    assert [process["universe_rank"] for process in read] == list(range(sum(SIZES)))
    assert [process["world"] for process in read] == [0, 0, 1, 1, 1, 2]
    worlds = snapshot["worlds"]
    assert isinstance(worlds, list)
    placed = [(world["size"], world["first"], world["parent"]) for world in worlds]
    assert placed == [(2, 0, None), (3, 2, 0), (1, 5, 1)]
    truth = job.in_universe()
    for process in read:
        assert process["problems"] == []
        different = compare(truth[process["pid"]], process, known=_known(job.build))
        # A queue may say that it is not known.
        wrong = [one for one in different if (one.kind, one.found) != ("state", "no_information")]
        assert wrong == [], "\n".join(map(str, wrong))
        if not isinstance(_known(job.build), OverNetwork):
            assert different == []


@pytest.mark.usual("wheel-5*")
def test_all_worlds_are_what_their_processes_say(spawned: WorldsJob) -> None:
    result = run("show", *pid_options(reversed(spawned.all_pids)), "--format", "json")
    assert result.status == 0, str(result)
    _assert_truth(spawned, json.loads(result.out))
    for pid in spawned.all_pids:
        processes.assert_running(pid)


@pytest.mark.slow
def test_a_recording_of_all_worlds_says_the_same(spawned: WorldsJob, tmp_path: Path) -> None:
    recording = tmp_path / "spawned.mpirec"
    result = run("record", *pid_options(spawned.all_pids), "-o", str(recording))
    assert result.status == 0, str(result)
    snapshot = mpi_queues.load(recording)
    _assert_truth(spawned, json.loads(snapshot.to_json()))
    # Where several processes have a rank, each place of the universe is still one.
    assert [snapshot.rank(place).pid for place in range(6)] == spawned.all_pids
    with pytest.raises(KeyError):
        snapshot.rank(6)


@pytest.mark.slow
def test_the_text_names_the_world_of_a_peer(spawned: WorldsJob) -> None:
    if isinstance(_known(spawned.build), OverNetwork):
        result = run("comms", *pid_options(spawned.all_pids), "--rank", "3")
        assert result.out.startswith(f"Rank 1 of 3 of world 1, pid {spawned.all_pids[3]}")
    else:
        _assert_peers(spawned)
    comms = run("comms", *pid_options(spawned.all_pids))
    assert "  0,1 | remote world 1: 0-2\n" in comms.out
    assert "  world 1: 0-2 | remote 0,1\n" in comms.out
    assert "  world 1: 0 | remote world 2: 0\n" in comms.out
    assert "  0,1; world 1: 0-2\n" in comms.out


def _assert_peers(spawned: WorldsJob) -> None:
    result = run("show", *pid_options(spawned.all_pids), "--rank", "3")
    assert result.status == 0, str(result)
    assert result.out.startswith(f"Rank 1 of 3 of world 1, pid {spawned.all_pids[3]}")
    merged = result.out[result.out.index("merged:") :]
    # The child of rank 1 sends to the parent of rank 1, and receives from the next child.
    assert "\n      1                 91 " in merged
    assert "\n        rank 2 of world 1\n" in merged


@pytest.mark.slow
def test_the_job_is_read_by_its_launcher(spawned: WorldsJob) -> None:
    result = run("show", "--job", str(spawned.launcher_pid), "--format", "json")
    assert result.status == 0, str(result)
    _assert_truth(spawned, json.loads(result.out))
    ranks = json.loads(run("ranks", str(spawned.launcher_pid), "--format", "json").out)
    listed = [(entry["world"], entry["rank"], entry["pid"]) for entry in ranks["processes"]]
    assert listed == [(*place, truth["pid"]) for place, truth in sorted(spawned.worlds.items())]


@pytest.fixture(scope="module")
def plugin() -> Path:
    """Ours, which tells of spawned processes: no MPI ships one that does."""
    return compile_with(["cc"], "plugins", [PROGRAMS / "plugins" / "worlds.c"], ["-shared", "-fPIC"])


@pytest.mark.slow
def test_a_plugin_tells_of_spawned_processes_and_is_told_its_place(spawned: WorldsJob, plugin: Path) -> None:
    pids = spawned.all_pids
    by_rank = {0: pids[2:5], 1: pids[2:5], 2: [pids[5]]}
    options = ("--source", f"plugin={plugin}", "--format", "json")
    result = run("show", "--job", str(spawned.launcher_pid), *options)
    assert result.status == 0, str(result)
    for place, process in enumerate(json.loads(result.out)["processes"]):
        assert [one["pid"] for one in process.get("spawned", [])] == by_rank.get(place, [])
        named = {(one["host"], one["executable"]) for one in process.get("spawned", [])}
        assert named <= {(socket.gethostname(), "truth_spawn")}
        assert process["spawn_breakpoint"] == "truth_have_spawned"
        assert any(f"identity {place}" in note for note in process["notes"]), process["notes"]
    # Without the job nobody knows the place of a process that was spawned: its rank is another one's.
    alone = json.loads(run("show", *pid_options([pids[0], pids[3]]), *options).out)["processes"]
    told = {process["pid"]: [note for note in process["notes"] if "identity" in note] for process in alone}
    assert len(told[pids[0]]) == 1 and "identity 0" in told[pids[0]][0]
    assert told[pids[3]] == []


@pytest.mark.slow
def test_one_world_alone_keeps_its_own_ranks(spawned: WorldsJob) -> None:
    children = spawned.all_pids[2:5]
    result = run("show", *pid_options(children), "--format", "json")
    assert result.status == 0, str(result)
    snapshot = json.loads(result.out)
    assert "worlds" not in snapshot
    for rank, process in enumerate(snapshot["processes"]):
        assert (process["rank"], process["pid"]) == (rank, children[rank])
        assert "universe_rank" not in process
        comms = {comm["name"]: comm for comm in process["communicators"]}
        assert comms["MPI_COMM_WORLD"]["group"] == [0, 1, 2]
        # The parents are not of this world: null, and named beside it.
        assert comms["MPI_COMM_PARENT"]["remote_group"] == [None, None]
        (parents,) = comms["MPI_COMM_PARENT"]["elsewhere"]
        assert (parents["remote"], parents["local_rank"], parents["count"], parents["rank"]) == (True, 0, 2, 0)
        assert parents["world_key"] == process["parent_world_key"] != process["world_key"]
        assert comms["merged"]["group"] == [None, None, 0, 1, 2]


@pytest.mark.slow
def test_a_job_of_one_world_has_nothing_of_worlds(mpi_build: MpiBuild, start_job: Callable[..., WorldsJob]) -> None:
    job = start_job(mpi_build, "truth_modes", ranks=2)
    out = run("show", *pid_options(job.pids), "--format", "json").out
    assert "world_key" not in out and "universe_rank" not in out and '"world"' not in out
    assert '"worlds"' not in out
    # Calls in the source have a member of that name too.
    communicators = [one for process in json.loads(out)["processes"] for one in process["communicators"]]
    assert communicators and not [one for one in communicators if "elsewhere" in one]
