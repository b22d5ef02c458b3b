"""What is told of a process under the flight recorder, by each kind of target, against what its program posted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List

import pytest
from support import cores, recorder
from support.builds import MpiBuild
from support.cli import mpi_queues, pid_options
from support.recorder import Job

STATES = {recorder.ACTIVE: "active", recorder.STARTED: "active", recorder.INACTIVE: "inactive"}


def _posts(build: MpiBuild) -> Job:
    return Job(build, recorder.compiled(build, "posts.c"), "5", "120", ranks=2)


def _shown(*target: str) -> List[Dict[str, Any]]:
    return sorted(recorder.shown(*target), key=lambda one: int(one["rank"]))


def _check(job: Job, shown: List[Dict[str, Any]]) -> None:
    identities: Dict[str, set[str]] = {}
    for rank, process in enumerate(shown):
        truth, record = job.truth[rank], job.record(rank)
        history = process["history"]
        names = {int(one["handle"], 16): one["name"] for one in process["communicators"]}
        lines = {one.request: recorder.line_of(job.pids[rank], Path(job.program), one.site) for one in record.requests}
        told = {
            int(one["request"], 16): (
                one["function"],
                one.get("peer"),
                one.get("tag"),
                one["count"],
                one["communicator"],
                one["state"],
                one["line"],
                one["caller"],
            )
            for one in history["requests"]
        }
        expected = {
            one["request"]: (
                one["function"],
                None if one["peer"] < 0 else one["peer"],
                one["tag"],
                one["count"],
                names[one["comm"]],
                STATES[one["state"]],
                lines[one["request"]],
                told[one["request"]][-1],
            )
            for one in truth["open"]
        }
        assert told == expected
        assert {one[-1] for one in told.values()} <= {"step", "persistent", "main"}
        _check_started(process, truth, lines)
        thread = history["threads"][0]
        last = thread["calls"][-1]
        assert (last["function"], last["tag"], last["count"]) == ("MPI_Recv", 31999, 7)
        assert thread["kernel_thread"] == truth["pid"] and thread["current"] == last["number"] == thread["begun"]
        assert last["file"].endswith("posts.c") and process["calls"][0]["line"] == last["line"]
        for one in history["communicators"]:
            wanted = next((comm for comm in truth["comms"] if comm["handle"] == int(one["handle"], 16)), None)
            if wanted is None:
                assert one["name"] == "MPI_COMM_SELF"
                continue
            assert (one["local_rank"], one["size"]) == (wanted["rank"], wanted["size"])
            assert one["collectives"] == wanted["collectives"]
            identities.setdefault(wanted["name"], set()).add(f"{one['identity']} {one['order']}")
    assert all(len(found) == 1 for found in identities.values())


def _check_started(process: Dict[str, Any], truth: Dict[str, Any], lines: Dict[int, int]) -> None:
    """Each operation of an open request has the line of the call that started it."""
    seen = 0
    for communicator in process["communicators"]:
        queues = [communicator[name]["operations"] for name in ("pending_sends", "pending_receives")]
        for operation in [*queues[0], *queues[1], *communicator.get("inactive", [])]:
            line = lines.get(int(operation["request"] or "0", 16))
            if line is not None:
                seen += 1
                (by,) = operation["started_by"]
                assert (by["line"], by["certain"], by["how"]) == (line, True, "recorder")
    assert seen > len(truth["open"]) // 2


@pytest.mark.usual("debian")
def test_a_live_process(any_mpi: MpiBuild) -> None:
    with _posts(any_mpi) as job:
        for rank in range(2):
            job.waiting(rank, "MPI_Recv")
        _check(job, _shown(*pid_options(job.pids)))


@pytest.mark.usual("debian")
def test_a_recording_and_core_files(any_mpi: MpiBuild, tmp_path: Path) -> None:
    with _posts(any_mpi) as job:
        for rank in range(2):
            job.waiting(rank, "MPI_Recv")
        file = tmp_path / "job.mpirec"
        result = mpi_queues("record", *pid_options(job.pids), "-o", str(file))
        assert result.status == 0, str(result)
        _check(job, _shown("--recording", str(file)))
        # It replays the target: it can be recorded again.
        again = tmp_path / "again.mpirec"
        assert mpi_queues("record", "--recording", str(file), "-o", str(again)).status == 0
        _check(job, _shown("--recording", str(again)))
        named = [cores.gcore(pid, tmp_path / "core") for pid in job.pids]
        _check(job, _shown(*[word for core in named for word in ("--core", str(core), "--exe", str(job.program))]))


def test_what_is_told_in_words(debian_mpi: MpiBuild) -> None:
    with _posts(debian_mpi) as job:
        job.waiting(0, "MPI_Recv")
        result = mpi_queues("show", *pid_options(job.pids[:1]))
        assert result.status == 0, str(result)
        text = " ".join(result.out.split())
        assert "latest calls, by the flight recorder: " in text and "MPI_Recv at posts.c:" in text
        assert "(now)" in text


@pytest.mark.slow
def test_the_first_collective_that_differs_is_told(any_mpi: MpiBuild) -> None:
    program = recorder.compiled(any_mpi, "differs.c")
    text = (recorder.PROGRAMS / "recorder" / "differs.c").read_text().splitlines()
    lines = [number for number, line in enumerate(text, 1) if line.endswith("/* differs */")]
    with Job(any_mpi, program, ranks=3) as job:
        for rank in range(3):
            job.waiting(rank, "MPI_Recv")
        result = mpi_queues("diagnose", *pid_options(job.pids), "--format", "json")
    assert result.status == 0, str(result)
    found = json.loads(result.out)
    first = found["diagnosis"][0]
    # MPI_Comm_dup is on MPI_COMM_WORLD: these are the second ones of their communicator.
    assert first["summary"] == 'in collective 2 of "solver" rank 0 called MPI_Bcast and ranks 1 and 2 called MPI_Reduce'
    assert first["certain"] and [(one["ranks"], one["line"]) for one in first["blamed"]] == [
        ([0], lines[0]),
        ([1, 2], lines[1]),
    ]


#: What differs on each communicator of ``contents.c``: the kind, and what rank 1 and the others called.
CONTENTS = {
    "operators": ("operator mismatch", 2, "MPI_Allreduce with MPI_MIN", "MPI_Allreduce with MPI_MAX", "operator"),
    "datatypes": ("datatype mismatch", 1, "MPI_Bcast with 4 MPI_FLOAT", "MPI_Bcast with 4 MPI_INT", "datatype"),
    "counts": ("count mismatch", 1, "MPI_Ibcast with 8 MPI_INT", "MPI_Ibcast with 4 MPI_INT", "count"),
}


@pytest.mark.usual("debian")
def test_operators_datatypes_and_counts_that_differ_are_told(any_mpi: MpiBuild) -> None:
    program = recorder.compiled(any_mpi, "contents.c")
    text = (recorder.PROGRAMS / "recorder" / "contents.c").read_text().splitlines()
    lines = {line.rpartition("/* ")[2][:-3]: number for number, line in enumerate(text, 1) if line.endswith(" */")}
    with Job(any_mpi, program, ranks=3) as job:
        for rank in range(3):
            job.waiting(rank, "MPI_Recv")
        result = mpi_queues("diagnose", *pid_options(job.pids), "--format", "json")
    assert result.status == 0, str(result)
    by_recorder = [one for one in json.loads(result.out)["diagnosis"] if "flight recorder" in str(one["evidence"])]
    found = {one["summary"].split('"')[1]: one for one in by_recorder}
    assert found.keys() == CONTENTS.keys(), [one["summary"] for one in by_recorder]
    for name, (kind, number, of_one, of_others, what) in CONTENTS.items():
        one = found[name]
        summary = f'in collective {number} of "{name}" rank 1 called {of_one} and ranks 0 and 2 called {of_others}'
        assert (one["kind"], one["summary"], one["certain"]) == (kind, summary, True)
        assert [(place["ranks"], place["line"]) for place in one["blamed"]] == [
            ([1], lines[f"{what} of rank 1"]),
            ([0, 2], lines[f"{what} of others"]),
        ]
