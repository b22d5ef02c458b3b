"""Jobs that tell of themselves by the MPI2DD interface, over real processes, against what the job says it is."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Dict, List, Optional

import pytest
from mpi_queues import _native
from mpi_queues.errors import UserError
from mpi_queues.launchers import hosts, job
from mpi_queues.launchers.model import Job
from mpi_queues.launchers.tree import ProcessTree
from mpi_queues.mpi2dd import directories
from support import cli, processes
from support.directories import WIDTHS, DirectoryJob, running


def read(pid: int) -> Any:
    return _native.mpi2dd(pid, hosts.own())


def worlds(told: Any) -> Dict[Optional[str], List[int]]:
    """The process ids of each world by rank."""
    found: Dict[Optional[str], List[int]] = {}
    for world in told["worlds"]:
        members = sorted(world["members"], key=lambda one: one["rank"])
        assert [one["rank"] for one in members] == list(range(len(members)))
        found[world["id"]] = [one["pid"] for one in members]
    return found


def members(told: Any, name: str) -> List[int]:
    """The process ids of one world, by number."""
    return sorted(one["pid"] for world in told["worlds"] if world["id"] == name for one in world["members"])


def assert_true(told: Any, true: DirectoryJob) -> None:
    assert worlds(told) == true.worlds
    for world in told["worlds"]:
        spawn = true.truth["spawns"].get(world["id"])
        assert (world["started"], world["spawns"]) == (spawn is None, [] if spawn is None else [spawn])
        assert all(one["state"] == "here" and one["problem"] is None for one in world["members"])
        assert all(one["executable"] == true.truth["executable"] for one in world["members"])


def tells(problems: List[str], *parts: str) -> None:
    assert any(all(part in problem for part in parts) for problem in problems), problems


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.slow
def test_a_job_is_the_same_from_each_of_its_processes(tmp_path: Path, width: int) -> None:
    with running(tmp_path, width=width) as true:
        for pid in true.pids:
            told = read(pid)
            assert_true(told, true)
            assert told["problems"] == []
            assert told["info"]["pointer_width"] == width == true.truth["width"]
            found = {one["pid"] for one in told["directories"]}
            named = {true.truth[name] for name in ("metadirectory", "directory_a", "directory_b")}
            assert found == named | {pid}
            assert [told["info"][name] for name in ("dll_name_32", "dll_name_64", "dll_name")] == [
                "/lib32/libqueues.so",
                "/lib64/libqueues.so",
                "/lib64/libqueues.so",
            ]
        for pid in true.pids:
            processes.assert_running(pid)
            assert true.flags(pid) == 0


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.slow
def test_ranks_shows_the_worlds_and_who_spawned_them(tmp_path: Path, width: int) -> None:
    with running(tmp_path, width=width) as true:
        starter = true.truth["starter"]
        for pid in true.pids:
            result = cli.mpi_queues("ranks", str(pid), "--format", "json")
            assert result.status == 0, str(result)
            shown = json.loads(result.out)
            assert (shown["job"]["pid"], shown["job"]["launcher"]) == (starter, "mpi2dd")
            assert [(one["name"], one["size"], one["parent"]) for one in shown["job"]["worlds"]] == [
                ("alpha", 3, None),
                ("beta", 2, 0),
            ]
            assert shown["job"]["worlds"][1]["note"] == "rank 1 of world 0 spawned it (sequence 0)"
            assert [one["pid"] for one in shown["processes"]] == [*true.worlds["alpha"], *true.worlds["beta"]]
            assert [one["universe_rank"] for one in shown["processes"]] == [0, 1, 2, 3, 4]
        text = cli.mpi_queues("ranks", str(starter))
        assert text.status == 0, str(text)
        assert "MPI2DD" in text.out and "rank 1 of world 0 spawned it" in text.out


@pytest.mark.slow
def test_a_job_is_found_by_the_name_of_its_program_and_below_a_script(tmp_path: Path) -> None:
    with running(tmp_path) as true:
        assert job.find(true.truth["executable"]).pid == true.truth["starter"]
        with pytest.raises(UserError):
            job.find("mpi2dd-that-is-not-there")
        # This process stands for a script that has started the job.
        below = directories.below(ProcessTree(), os.getpid())
        assert below is not None and below.pid == true.truth["starter"]


@pytest.mark.slow
def test_a_process_without_the_interface_has_none(tmp_path: Path) -> None:
    assert read(os.getpid()) is None
    with running(tmp_path) as true:
        assert read(true.truth["stranger"]) is None
        for pid in (true.truth["dead"], 0, -1, 1 << 31, 1 << 40):
            with pytest.raises(_native.NativeError) as caught:
                read(pid)
            assert (caught.value.kind, str(pid) in str(caught.value)) == ("gone", True)


@pytest.mark.parametrize(
    "variant, number", [("magic", "4e, 50, 49, 32, 7f"), ("version", "version 2"), ("variant", "variant 7")]
)
@pytest.mark.slow
def test_what_is_not_of_this_interface_is_refused_by_its_number(tmp_path: Path, variant: str, number: str) -> None:
    with running(tmp_path, variant) as true:
        meta = true.truth["metadirectory"]
        with pytest.raises(_native.NativeError) as caught:
            read(meta)
        assert (caught.value.kind, number in str(caught.value)) == ("mpi2dd", True)
        told = read(true.truth["starter"])
        tells(told["problems"], f"pid {meta} is named as a metadirectory", number)
        assert told["worlds"] == []
        # The directories still know their own ranks.
        assert members(read(true.truth["directory_b"]), "beta") == true.worlds["beta"]
        result = cli.mpi_queues("ranks", str(meta))
        assert result.status == 3 and number in result.err, str(result)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "variant, parts",
    [
        ("circle", []),
        ("padded", ["24 bytes apart"]),
        ("no-flags", ["lack MPI2DD_MPIFLAG_I_AM_DIR", "read all the same"]),
        ("self", ["it is in its own directory_table"]),
        ("huge", ["proctable is said to have 2147483647 entries"]),
        ("rank-as-directory", ["lack MPI2DD_MPIFLAG_I_AM_DIR", "it has no such tables"]),
        ("huge-directory", ["directory_table is said to have 2147483647 entries"]),
    ],
)
@pytest.mark.slow
def test_all_ranks_are_found_in_spite_of(tmp_path: Path, variant: str, parts: List[str], width: int) -> None:
    if variant == "padded" and width == 4:
        # No compiler pads that structure.
        parts = []
    with running(tmp_path, variant, width) as true:
        for pid in (true.truth["starter"], true.truth["metadirectory"], true.worlds["beta"][0]):
            told = read(pid)
            assert_true(told, true)
            if parts:
                tells(told["problems"], *parts)
            else:
                assert told["problems"] == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.slow
def test_tables_that_cannot_be_read_are_told(tmp_path: Path, width: int) -> None:
    for variant, parts in [
        ("negative", ["its proctable is said to have -1 entries"]),
        ("negative-directory", ["its directory_table is said to have -1 entries"]),
        ("dangling-directory", ["its directory_table is said to have 2 entries", "only 0 of them can be read at 0x10"]),
    ]:
        directory = tmp_path / variant
        directory.mkdir()
        with running(directory, variant, width) as true:
            told = read(true.truth["starter"])
            assert told["worlds"] == []
            tells(told["problems"], *parts)
            result = cli.mpi_queues("ranks", str(true.truth["starter"]))
            assert result.status == 3 and parts[0] in result.err, str(result)


@pytest.mark.slow
def test_broken_entries_are_told_and_the_others_kept(tmp_path: Path) -> None:
    with running(tmp_path, "dangling") as true:
        told = read(true.truth["starter"])
        # The table of directory_a lies nowhere; of alpha only what the other one has is known.
        tells(told["problems"], f"pid {true.truth['directory_a']}: its proctable is said to have 3 entries", "0x10")
        tells(told["problems"], "executable_name is not text: nothing can be read at 0x10")
        assert members(told, "alpha") == [true.worlds["alpha"][1]]
        assert members(told, "beta") == true.worlds["beta"]


@pytest.mark.slow
def test_text_that_does_not_end_is_told(tmp_path: Path) -> None:
    with running(tmp_path, "unterminated") as true:
        told = read(true.truth["starter"])
        tells(told["problems"], "comm_world_id is not text: no end is found in 100 bytes")
        assert [[one["pid"] for one in world["members"]] for world in told["worlds"] if world["id"] is None] == [
            [true.worlds["beta"][1]]
        ]


def entry_of(found: Job, rank: int) -> Any:
    return [one for one in found.ranks if (one.world, one.rank) == (0, rank)]


@pytest.mark.slow
def test_processes_that_are_not_meant_are_no_ranks_to_be_touched(tmp_path: Path) -> None:
    for variant, state, part in [
        ("dead", "ended", "there is no such process"),
        ("other-program", "ended", "it has no MPI2DD_info, so it is another process"),
        ("foreign", "unknown", ""),
    ]:
        directory = tmp_path / variant
        directory.mkdir()
        with running(directory, variant) as true:
            found = job.of(true.truth["starter"])
            (entry,) = entry_of(found, 3)
            assert (entry.state, part in (entry.problem or "")) == (state, True), entry
            assert entry not in found.reachable
            if variant == "other-program":
                assert (entry.pid, str(true.truth["stranger"]) in entry.problem) == (None, True)
                tells(found.problems, f"pid {true.truth['stranger']} is named as a directory", "sleep")
            if variant == "dead":
                tells(found.problems, f"pid {true.truth['dead']} is named as a directory", "no such process")
            if variant == "foreign":
                assert (entry.here, entry.host, entry.pid) == (False, "far.example", 1)
                tells(found.problems, "on far.example", "out of reach from this machine")
                # Whoever is missing there: the sizes are not known.
                assert {world.size for world in found.worlds} == {None}
            else:
                assert {one.pid for one in found.reachable} == {pid for ranks in true.worlds.values() for pid in ranks}


def test_contradictions_are_told(tmp_path: Path) -> None:
    for variant, parts, parents in [
        ("duplicate", ["are both said to be rank 0"], [None, 0]),
        ("spawn-circle", [], [None, 0]),
        ("spawn-contradiction", ["disagree on how it was spawned"], [None, None]),
        ("negative-rank", ["its rank is -1"], [None, 0]),
    ]:
        directory = tmp_path / variant
        directory.mkdir()
        with running(directory, variant) as true:
            found = job.of(true.truth["starter"])
            if parts:
                tells(found.problems, *parts)
            assert [world.parent for world in found.worlds] == parents, (variant, found.worlds)
            ranks = {pid for pids in true.worlds.values() for pid in pids}
            assert ranks <= {one.pid for one in found.ranks}
            if variant == "duplicate":
                pids = {one.pid for one in entry_of(found, 0)}
                assert pids == {true.worlds["alpha"][0], true.truth["directory_b"]}


@pytest.mark.slow
def test_a_metadirectory_that_has_ended_is_told_with_what_to_type(tmp_path: Path) -> None:
    with running(tmp_path, "dead-metadirectory") as true:
        dead = true.truth["dead"]
        told = read(true.truth["starter"])
        tells(told["problems"], f"pid {dead} is named as a metadirectory", "no such process")
        result = cli.mpi_queues("ranks", str(true.truth["starter"]))
        assert result.status == 3 and str(dead) in result.err and "mpi-queues show --pid" in result.err, str(result)
        # A directory goes on without.
        assert members(read(true.truth["directory_b"]), "beta") == true.worlds["beta"]


@pytest.mark.slow
def test_hosts_of_this_machine_need_no_name_server() -> None:
    own = hosts.own()
    assert os.uname().nodename in own
    assert "127.0.0.1" in own
