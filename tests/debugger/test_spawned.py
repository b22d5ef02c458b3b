"""What a plug-in for MPI-2 tells of spawned processes, in gdb and lldb, and jobs of several worlds there. What the
processes say of themselves is the truth; those of a world that another one spawned have its number as argument."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import pytest
from debuggers import LLDB, LLDB_LOADER, Gdb, Lldb
from driver import Terminal, batch
from support import processes
from support.builds import MpiBuild, compile_program, compile_with
from support.paths import PROGRAMS
from support.starters import Place
from support.worlds import WorldsJob

DEBUGGERS = [Gdb(), Lldb()]


@pytest.fixture
def plugin(preflight: None) -> Path:
    return compile_with(["cc"], "plugins", [PROGRAMS / "plugins" / "worlds.c"], ["-shared", "-fPIC"])


@pytest.fixture(scope="module")
def spawned(debian_mpi: MpiBuild) -> Iterator[WorldsJob]:
    with WorldsJob(debian_mpi, "truth_spawn", sizes=(2, 3, 1)) as job:
        yield job


def children(place: Place, world: int) -> List[int]:
    """The processes of a job of truth_spawn.c that were started for a world."""
    wanted = [b"", str(world).encode(), b""]
    return [pid for pid in place.members() if Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[1:] == wanted[1:]]


def listed(text: str) -> List[Tuple[Any, ...]]:
    """World, rank and process id, from ``mpi ranks -format json``."""
    entries = json.loads(text[text.index("{") :])["processes"]
    return [(entry["world"], entry["rank"], entry["pid"]) for entry in entries]


@pytest.mark.slow
def test_the_plugin_names_spawned_processes_and_where_to_stop(spawned: WorldsJob, plugin: Path) -> None:
    pids = spawned.all_pids
    output = batch([f"attach {pids[2]}", f"mpi plugin load {plugin}", "echo \\n==\\n", "mpi plugin info"])
    spawned.assert_running()
    assert "Traceback" not in output
    info = output.split("\n==\n")[1]
    assert "spawn breakpoint: truth_have_spawned" in info
    assert f"pid: {pids[5]}" in info
    assert "executable: truth_spawn" in info


@pytest.mark.parametrize("debugger", DEBUGGERS, ids=lambda one: one.name)
@pytest.mark.slow
def test_all_worlds_of_a_job_are_read_as_one_universe(debugger: Gdb, spawned: WorldsJob, plugin: Path) -> None:
    pids = spawned.all_pids
    attached, builtin, *_, told, ranks, _ = debugger.run(
        f"mpi attach {spawned.launcher_pid}",
        "mpi comms -format json",
        f"{debugger.setting} plugin-path {plugin}",
        f"{debugger.setting} source plugin",
        "mpi queues -format json",
        "mpi ranks -format json",
        "mpi detach",
    )
    assert "attached to ranks 0 and 1 and ranks 0-2 of world 1 and rank 0 of world 2." in attached
    # Without a plug-in in use none is loaded to ask where to stop.
    assert "plug-in" not in attached
    for text in (builtin, told):
        snapshot = json.loads(text)
        assert [one["pid"] for one in snapshot["processes"]] == pids
        assert [one["universe_rank"] for one in snapshot["processes"]] == list(range(6))
        assert [(one["size"], one["first"], one["parent"]) for one in snapshot["worlds"]] == [
            (2, 0, None),
            (3, 2, 0),
            (1, 5, 1),
        ]
        # What the launcher calls them, which the library does not know.
        assert all(one["name"] for one in snapshot["worlds"])
    for index, process in enumerate(json.loads(told)["processes"]):
        assert any(f"identity {index}" in note for note in process["notes"]), process["notes"]
    # All that the plug-in tells of is known already.
    assert listed(ranks) == [(*at, truth["pid"]) for at, truth in sorted(spawned.worlds.items())]
    spawned.assert_running()


@pytest.mark.slow
def test_ranks_stop_in_gdb_where_they_have_spawned(mpir_mpi: MpiBuild, place: Place, plugin: Path) -> None:
    program = compile_program(mpir_mpi, "truth_spawn")
    # One more that the plug-in tells of, and nothing else knows.
    other = os.getpid()
    launched, _, _, again, told, attached, _, ranks, table, _ = Gdb().run(
        f"set mpi plugin-path {plugin}",
        "set mpi source plugin",
        f"mpi launch {mpir_mpi.mpirun} -n 2 {program}",
        "tbreak be_parent",
        "continue",
        "mpi attach",
        "continue",
        "mpi attach",
        f"set var truth_spawned[3] = {other}",
        "mpi ranks -format json",
        "mpi ranks",
        "mpi detach",
        environment={**place.environment, "MPIQ_TRUTH": str(place.directory / "truth.%d.json")},
    )[2:]
    # They wait in MPI_Init, where nothing can be read yet.
    assert "MPI is not initialised in this process" in launched
    assert "once MPI is initialised, type: mpi attach" in " ".join(launched.split())
    assert "will stop in truth_have_spawned (named by the plug-in)." in " ".join(again.split())
    offspring = children(place, 1)
    assert len(offspring) == 3
    said = re.search(r"rank ([01]) has spawned processes: (.*?)\.\n", told, re.S)
    assert said is not None, told
    assert sorted(int(pid) for pid in re.findall(r"pid\s+(\d+)", said[2])) == sorted(offspring)
    assert "(truth_spawn)" in said[2]
    assert "To attach to the new ones, type: mpi attach\n" in told
    assert "attached to ranks 0 and 1 and ranks 0-2 of world 1." in attached
    found = listed(ranks)
    assert sorted(pid for world, _, pid in found if world == 1) == sorted(offspring)
    assert found[-1] == (2, None, other)
    entry: Dict[str, Any] = json.loads(ranks[ranks.index("{") :])["processes"][-1]
    assert entry["origin"] == f"the plug-in of rank {said[1]} (mqs_next_new_process)"
    assert "World 2, of a size that is not known, spawned by world 0, known only from a plug-in\n" in table


@pytest.mark.slow
def test_ranks_stop_in_lldb_where_they_have_spawned(
    mpir_mpi: MpiBuild, place: Place, plugin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = compile_program(mpir_mpi, "truth_spawn")
    environment = {**place.environment, "MPIQ_TRUTH": str(place.directory / "truth.%d.json")}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with Terminal(command=[LLDB, "--no-lldbinit", "--no-use-colors"], prompt="(lldb) ", columns=200) as terminal:

        def typed(command: str, until: str = "(lldb) ") -> str:
            terminal.send(command + "\n")
            return terminal.read_until(until) + terminal.read_quiet(1.0)

        typed(f"command script import {LLDB_LOADER}")
        typed(f"mpi config plugin-path {plugin}")
        typed("mpi config source plugin")
        typed(f"mpi launch {mpir_mpi.mpirun} -n 2 {program} > {place.directory}/output 2>&1", "or quit")
        typed("mpi foreach all breakpoint set --one-shot true --name be_parent", "rank 1:")
        typed("mpi foreach all continue", "resuming")
        while "running" in typed("mpi foreach 0,1 process status", "rank"):
            pass
        assert "ranks 0 and 1 will stop in truth_have_spawned" in typed("mpi attach", "mpi detach")
        seen = typed("mpi foreach all continue", "resuming")
        while seen.count("type: mpi attach") < 2:
            seen += terminal.read_until("type: mpi attach")
        terminal.read_quiet(1.0)
        offspring = children(place, 1)
        for rank in (0, 1):
            said = re.search(rf"rank {rank} has spawned processes: (.*?)\.\r?\n", seen, re.S)
            assert said is not None, seen
            assert sorted(int(pid) for pid in re.findall(r"pid\s+(\d+)", said[1])) == sorted(offspring)
        assert "attached to ranks 0 and 1 and ranks 0-2 of world 1." in typed("mpi attach", "mpi detach")
        # They stay where they are: nobody has let them go on to spawn more.
        assert children(place, 2) == []
        typed("mpi detach", "the job runs on")
        processes.wait_until(lambda: len(children(place, 2)) == 1, "the last world")
