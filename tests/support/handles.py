"""Compares what test programs note of their handles (common/handles.h) with what is read, over every kind of target."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

from mpi_queues.request import Request
from mpi_queues.targets import asking
from mpi_queues.targets.core import CoreTarget
from mpi_queues.targets.process import PidTarget
from mpi_queues.targets.recording import RecordingTarget

from .cli import mpi_queues as command_line
from .cli import pid_options
from .cores import gcore
from .held import Held, reason_of
from .jobs import Job
from .known import EXACT, NOT_AVAILABLE

#: Handles in the order of a truth's list, and all objects that are listed by kind.
Answer = Tuple[List[Dict[str, Any]], Dict[str, Dict[str, Any]]]

#: Facts that the summary of a request is made of.
IN_SUMMARY = ("call", "peer", "tag", "any_source", "any_tag", "bytes", "communicator")


def compare_all(job: Job, directory: Path) -> None:
    """Reads the job's handles live, from cores and from recordings; compares each with the truth."""
    compare_live(job)
    cores = {rank: gcore(job.pids[rank], directory / "core") for rank in sorted(job.truth)}
    recording = directory / "handles.mpirec"
    result = command_line("record", *pid_options([job.pids[rank] for rank in sorted(job.truth)]), "-o", str(recording))
    assert result.status == 0, str(result)
    for rank, truth in sorted(job.truth.items()):
        target = CoreTarget(str(cores[rank]), str(job.program))
        _compare(truth, read(target, truth), f"core, rank {rank}", Held(job.build))
        of_recording(truth, recording, rank, Held(job.build))
    job.assert_running()


def compare_live(job: Job) -> None:
    """Reads the handles of the job's ranks; compares each with the truth."""
    for rank, truth in sorted(job.truth.items()):
        found = read(PidTarget(job.pids[rank]), truth)
        _compare(truth, found, f"rank {rank}", Held(job.build))


def wanted(truth: Dict[str, Any]) -> Tuple[Tuple[str, Any], ...]:
    """The handles of a truth, then everything that is listed of their kinds."""
    kinds = sorted({noted["kind"] for noted in truth["handles"]} - {"status"})
    return (*((noted["kind"], noted["value"]) for noted in truth["handles"]), *((kind, None) for kind in kinds))


def read(target: Any, truth: Dict[str, Any]) -> Answer:
    """Asks one process once for everything."""
    found = asking.snapshots([target], Request("handles", wanted=wanted(truth), timeout=120))
    assert not found.failures, found.problems
    (process,) = json.loads(found.merged().to_json())["processes"]
    return answer(process, truth)


def answer(process: Dict[str, Any], truth: Dict[str, Any]) -> Answer:
    """Takes apart what a process says to :func:`wanted`."""
    assert process["problems"] == [], process["problems"]
    lists = process["handles"]
    count = len(truth["handles"])
    handles = [found["handles"][0] for found in lists[:count]]
    return handles, {found["kind"]: found for found in lists[count:]}


def of_recording(truth: Dict[str, Any], recording: Path, rank: int, held: Held) -> None:
    """A recording has what was listed when it was made; the rest is not in it, and told so, or right."""
    target = RecordingTarget(str(recording))
    found = asking.snapshots([target], Request("handles", wanted=wanted(truth)))
    assert not found.failures, found.problems
    processes = json.loads(found.merged().to_json())["processes"]
    (process,) = [process for process in processes if process["rank"] == rank]
    # Values that no recording can have (garbage, freed objects, the application's statuses) are not in it, and told.
    process["problems"] = [problem for problem in process["problems"] if "not in the recording" not in problem]
    handles, lists = answer(process, truth)
    recorded = {(kind, handle["handle"]) for kind, found in lists.items() for handle in found["handles"]}
    known = []
    for noted, handle in zip(truth["handles"], handles):
        if (noted["kind"], noted["value"]) in recorded:
            known.append((noted, handle))
        elif handle["state"] == "unknown":
            assert "recording" in (handle["detail"] or ""), handle
    assert known or not recorded
    _compare_some(known, lists, f"recording, rank {rank}", held)


def _compare(truth: Dict[str, Any], found: Answer, where: str, held: Held) -> None:
    handles, lists = found
    _compare_some(list(zip(truth["handles"], handles)), lists, where, held)


def _compare_some(
    pairs: Sequence[Tuple[Dict[str, Any], Dict[str, Any]]], lists: Dict[str, Dict[str, Any]], where: str, held: Held
) -> None:
    wrong: List[str] = []
    for noted, handle in pairs:
        told = [note[1] for note in noted["notes"]]
        if handle["state"] == "unknown" and "core file" in (handle["detail"] or "") and _no_object(noted):
            # A core file that does not tell of an address cannot tell that nothing was mapped there.
            continue
        notes = noted["notes"] if "state" in told else [["equal", "state", "live"], *noted["notes"]]
        lost = False
        for how, place, value in sorted(notes, key=lambda note: str(note[1]) == "summary"):
            level = held.level(noted, place.replace("facts.", "", 1)) if place.startswith("facts.") else EXACT
            if level != EXACT and _is_lost(place, handle):
                lost = lost or (how != "unknown" and place.replace("facts.", "", 1) in IN_SUMMARY)
                continue
            if level == NOT_AVAILABLE and not (how == "equal" and value is None):
                problem = f"null with a reason; found {_at(handle, place)!r}"
            elif place == "summary" and how == "equal" and lost:
                # Words that are not known are missing in it.
                state = value.rpartition(", ")[2]
                problem = _differs("contains", place, f", {state}", handle, lists)
            else:
                problem = _differs(how, place, value, handle, lists)
            if problem:
                wrong.append(f"{noted['kind']} {noted['value']} ({noted['what']}): {place}: {problem}")
        wrong += [f"{noted['kind']} {noted['value']} ({noted['what']}): {told}" for told in handle["problems"]]
    assert not wrong, f"{where}:\n" + "\n".join(wrong)


def _no_object(noted: Dict[str, Any]) -> bool:
    return ["equal", "state", "invalid"] in noted["notes"]


def _is_lost(place: str, handle: Dict[str, Any]) -> bool:
    """Whether a fact is null, or one within a fact that is null, with a reason."""
    fact = place.replace("facts.", "", 1)
    found = _at(handle, place)
    return (found is None or isinstance(found, _Absent)) and bool(reason_of(handle, fact))


class _Absent:
    def __repr__(self) -> str:
        return "nothing of that name"


def _at(handle: Any, place: str) -> Any:
    for part in place.split("."):
        if isinstance(handle, list) and part.isdecimal() and int(part) < len(handle):
            handle = handle[int(part)]
        elif isinstance(handle, dict) and part in handle:
            handle = handle[part]
        else:
            return _Absent()
    return handle


def _differs(how: str, place: str, value: Any, handle: Dict[str, Any], lists: Dict[str, Any]) -> str:
    """What is wrong; empty where nothing is."""
    if how == "listed":
        there = any(one["handle"] == handle["handle"] for one in lists[handle["kind"]]["handles"])
        return "" if there == value else f"{'' if value else 'must not be '}listed, and is{'' if there else ' not'}"
    found = _at(handle, place)
    fact = place.replace("facts.", "", 1)
    if how == "unknown":
        return "" if found is None and handle["unknown"].get(fact) else f"not known, with a reason; found {found!r}"
    if how == "contains":
        return "" if isinstance(found, str) and value in found else f"{value!r} in it; found {found!r}"
    if how == "refers":
        return "" if isinstance(found, dict) and found.get("handle") == value else f"to {value}; found {found!r}"
    if how == "lists":
        there = isinstance(found, list) and any(one.get("handle") == value for one in found)
        return "" if there else f"{value} among them; found {found!r}"
    if how == "has":
        there = isinstance(found, list) and any(one == {**one, **value} for one in found if isinstance(one, dict))
        return "" if there else f"one with {value!r} in it; found {found!r}"
    if how == "count":
        return "" if isinstance(found, list) and len(found) == value else f"{value} elements; found {found!r}"
    assert how == "equal", how
    # True is 1 for Python.
    same = found == value and isinstance(found, bool) == isinstance(value, bool)
    return "" if same else f"{value!r}; found {found!r}"
