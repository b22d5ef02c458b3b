"""Jobs that speak MPI2DD in both debuggers: what they are told in their flags, and what they tell at MPI2DD_breakpoint.
Truth is what each process notes of its own flags."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, List

import pytest
from debuggers import DEBUGGERS, Gdb
from support import processes
from support.directories import DirectoryJob, launched, running, to_be_launched

#: Bits of debugger_flags: those of the draft, and one that the program has set for itself.
GATE, BEING_DEBUGGED, OTHER = 0x01, 0x02, 0x100

pytestmark = pytest.mark.usefixtures("preflight")


@pytest.fixture(params=DEBUGGERS, ids=lambda one: str(one.name))
def debugger(request: pytest.FixtureRequest) -> Any:
    return request.param


def ranks(true: DirectoryJob) -> List[int]:
    return [*true.worlds["alpha"], *true.worlds["beta"]]


@pytest.mark.parametrize("variant", ["start", "late"])
@pytest.mark.usual("gdb-start")
def test_a_job_is_launched_with_all_its_worlds(debugger: Gdb, tmp_path: Path, variant: str) -> None:
    with to_be_launched(tmp_path, variant) as words:
        said = debugger.run(f"mpi launch {words}", "mpi ranks -format json", "mpi ranks -verbose", "mpi detach")
        true = launched(tmp_path)
        told = " ".join(said[0].split())
        assert "has started ranks 0-2 and ranks 0 and 1 of world 1" in told, said[0]
        assert "does not have the MPIR interface" not in said[0]
        shown = json.loads(said[1][said[1].index("{") :])
        assert [one["pid"] for one in shown["processes"]] == ranks(true)
        assert all(one["held_by"] for one in shown["processes"])
        assert shown["job"]["pid"] == true.truth["starter"]
        assert "MPI2DD_info.debugger_flags: 0x102" in said[2]
        for pid in ranks(true):
            true.wait_for_flags(pid, GATE | OTHER)
        for pid in true.pids:
            processes.assert_running(pid)
        # Nobody debugs it any more; nobody else was written to.
        assert true.flags(true.truth["starter"]) in (0, OTHER)
        for name in ("metadirectory", "directory_a", "directory_b"):
            assert true.flags(true.truth[name]) == 0


@pytest.mark.slow
def test_a_running_job_is_told_of_a_debugger_and_of_its_end(debugger: Gdb, tmp_path: Path) -> None:
    with running(tmp_path) as true:
        starter = true.truth["starter"]
        said = debugger.run(f"mpi attach {starter} -launcher -ranks 1:0-1", "mpi ranks -verbose", "mpi detach")
        assert "attached to ranks 0 and 1 of world 1" in said[0], said[0]
        assert "MPI2DD_info.debugger_flags: 0x102" in said[1], said[1]
        for pid in true.worlds["beta"]:
            true.wait_for_flags(pid, GATE | OTHER)
        for pid in true.pids:
            processes.assert_running(pid)
            if pid not in true.worlds["beta"]:
                assert true.flags(pid) in (0, OTHER)


@pytest.mark.slow
def test_gates_of_ranks_that_are_attached_to_are_opened_and_the_starter_is_left_alone(
    debugger: Gdb, tmp_path: Path
) -> None:
    with running(tmp_path) as true:
        said = debugger.run(f"mpi attach {true.worlds['alpha'][0]} -ranks 0,2", "mpi detach")
        assert "attached to ranks 0 and 2" in said[0], said[0]
        for rank in (0, 2):
            true.wait_for_flags(true.worlds["alpha"][rank], GATE | OTHER)
        for pid in (true.truth["starter"], true.worlds["alpha"][1], *true.worlds["beta"]):
            assert true.flags(pid) == 0


@pytest.mark.parametrize("variant", ["version", "variant", "magic"])
@pytest.mark.slow
def test_nothing_is_written_where_the_interface_is_another(debugger: Gdb, tmp_path: Path, variant: str) -> None:
    with running(tmp_path, variant) as true:
        meta = true.truth["metadirectory"]
        said = debugger.run(*debugger.attach(meta), f"mpi attach {true.truth['starter']}", "detach")
        assert "MPI2DD_info does not lead to any rank" in said[-2].replace("\n  ", " "), said
        assert all(true.flags(pid) == 0 for pid in true.pids)


@pytest.mark.slow
def test_each_state_is_told_in_words(tmp_path: Path) -> None:
    with to_be_launched(tmp_path, "events") as words:
        said = Gdb().run(f"mpi launch {words}", *["continue"] * 7, "mpi detach")
        true = launched(tmp_path)
        for text, state in zip(
            said[1:],
            ["SPAWN", "CONNECT", "ACCEPT", "JOIN", "DIRECTORY_CHANGED", "METADIRECTORY_CHANGED", "ABORT"],
        ):
            assert f"(MPI2DD_DEBUG_{state})" in text, text
        assert "rank 2 has divided by zero" in said[7]
        for pid in true.pids:
            processes.assert_running(pid)
