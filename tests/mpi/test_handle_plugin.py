"""A plug-in for handles on real jobs, against what the programs know of theirs. No MPI ships one: it is our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Dict, List, Set, Tuple

import pytest
from mpi_queues.request import Request
from mpi_queues.targets import asking
from mpi_queues.targets.core import CoreTarget
from mpi_queues.targets.process import PidTarget
from mpi_queues.targets.recording import RecordingTarget
from support.builds import MpiBuild, debian, handle_plugin
from support.cli import mpi_queues
from support.cores import gcore
from support.jobs import Job

#: What the interface has members for, of communicators and error handlers.
TOLD = {
    "fortran",
    "predefined",
    "facts.rank",
    "facts.size",
    "facts.world_rank",
    "facts.group",
    "facts.inter",
    "facts.remote_group",
    "facts.remote_size",
    "facts.topology.kind",
    "facts.topology.ndims",
    "facts.topology.dims",
    "facts.topology.periods",
    "facts.topology.nodes",
    "facts.topology.index",
    "facts.topology.edges",
    "facts.topology.reorder",
    "facts.object",
    "facts.language",
    "facts.function.address",
}
#: Which of them each program must have, all ranks together.
PROGRAM_FACTS: List[Tuple[str, int, Set[str]]] = [
    (
        "handles_comms",
        3,
        {name for name in TOLD if "." not in name.replace("facts.", "")} - {"facts.object", "facts.language"},
    ),
    ("handles_topologies", 4, {name for name in TOLD if name.startswith("facts.topology")}),
    ("handles_groups", 3, {"facts.object", "facts.language"}),
]


def read(target: Any, asked: Tuple[Tuple[str, Any], ...], plugin: Path) -> Dict[str, Any]:
    request = Request("handles", "plugin", str(plugin), wanted=asked, timeout=60)
    found = asking.snapshots([target], request)
    assert not found.failures, found.problems
    process: Dict[str, Any] = json.loads(found.merged().to_json())["processes"][0]
    assert process["source"]["plugin"] == str(plugin)
    assert process["problems"] == []
    return process


@pytest.mark.parametrize("program", PROGRAM_FACTS, ids=lambda program: str(program[0]))
@pytest.mark.slow
def test_what_a_plugin_tells_is_what_the_program_made(
    mpi_build: MpiBuild, start_job: Callable[..., Job], program: Tuple[str, int, Set[str]]
) -> None:
    name, ranks, facts = program
    job = start_job(mpi_build, name, ranks=ranks)
    plugin = handle_plugin(mpi_build)
    compared: Set[str] = set()
    for rank, truth in sorted(job.truth.items()):
        mine = [noted for noted in truth["handles"] if noted["kind"] in ("comm", "errhandler")]
        asked = tuple((noted["kind"], noted["value"]) for noted in mine)
        process = read(PidTarget(job.pids[rank]), asked, plugin)
        for noted, listed in zip(mine, process["handles"]):
            (handle,) = listed["handles"]
            compared |= _compare(noted, handle)
    assert facts <= compared, f"never compared: {sorted(facts - compared)}"
    job.assert_running()


def _at(handle: Any, place: str) -> Any:
    for part in place.split("."):
        handle = handle.get(part) if isinstance(handle, dict) else None
    return handle


def _compare(noted: Dict[str, Any], handle: Dict[str, Any]) -> Set[str]:
    """The places that were compared; what the plug-in does not know has a reason."""
    states = [value for how, place, value in noted["notes"] if place == "state"] or ["live"]
    if states[0] not in ("live", "null"):
        # The plug-in looks into the library's tables, and so knows of no other.
        assert handle["state"] == "invalid", handle
        return set()
    assert handle["state"] == states[0], handle
    compared: Set[str] = set()
    for how, place, value in noted["notes"]:
        if how != "equal" or place not in TOLD or handle["state"] == "null":
            continue
        found = _at(handle, place)
        if found is None and value is not None:
            fact = place.replace("facts.", "", 1)
            assert handle["unknown"].get(fact) or handle["unknown"].get(fact.split(".")[0]), (place, handle)
            continue
        if isinstance(found, list) and isinstance(value, list):
            # A process that this one has not met yet has no number in the plug-in's words.
            found = (
                [want if have is None else have for have, want in zip(found, value)]
                if len(found) == len(value)
                else found
            )
        assert found == value, (noted["what"], place, handle)
        compared.add(place)
    return compared


@pytest.mark.slow
def test_cores_and_recordings_are_asked_as_live_processes_are(start_job: Callable[..., Job], tmp_path: Path) -> None:
    job = start_job(debian(), "handles_topologies", ranks=4)
    plugin = handle_plugin(debian())
    (live,) = read(PidTarget(job.pids[1]), (("comm", None),), plugin)["handles"]
    core = CoreTarget(str(gcore(job.pids[1], tmp_path / "core")), str(job.program))
    assert read(core, (("comm", None),), plugin)["handles"] == [live]
    recording = tmp_path / "handles.mpirec"
    result = mpi_queues("record", "--pid", str(job.pids[1]), "-o", str(recording))
    assert result.status == 0, str(result)
    (recorded,) = read(RecordingTarget(str(recording)), (("comm", None),), plugin)["handles"]
    assert len(live["handles"]) > 10
    assert recorded["handles"][:-1] == live["handles"]
    # MPI_COMM_NULL, which the plug-in names, and a live process leaves out; nothing of it is recorded.
    null = recorded["handles"][-1]
    assert (null["state"], null["name"]) == ("unknown", None)
    assert "reads of the plug-in failed while it looked at it" in null["detail"]


@pytest.mark.parametrize("variant", ["crash:mpidbg_comm_query", "exit:constructor"])
def test_a_hostile_plugin_costs_a_sentence(start_job: Callable[..., Job], variant: str) -> None:
    job = start_job(debian(), "handles_topologies", ranks=4)
    path = handle_plugin(debian(), variant)
    result = mpi_queues("handles", "--pid", str(job.pids[0]), "comm", f"--source=plugin={path}")
    assert result.status == 3, str(result)
    assert str(path) in result.err and "leave out the source" in result.err
    assert "Traceback" not in result.err
    job.assert_running()
