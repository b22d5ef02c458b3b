"""The flight recorder against what programs say they posted."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Dict, List, Sequence

import pytest
from support import processes, recorder
from support.builds import MpiBuild
from support.cli import pid_options
from support.recorder import NOT_GIVEN, Job, Record


def _assert_open_requests(record: Record, truth: Dict[str, Any]) -> None:
    expected = {one["request"]: one for one in truth["open"]}
    assert len(expected) == len(truth["open"])
    found = {one.request: one for one in record.requests}
    assert found.keys() == expected.keys()
    for request, one in found.items():
        wanted = expected[request]
        told = (one.function, one.peer, one.tag, one.count, one.object, one.state)
        assert told == tuple(wanted[name] for name in ("function", "peer", "tag", "count", "comm", "state")), one
        assert one.datatype == truth["datatype"]
        assert wanted["low"] < one.site <= wanted["high"], (one, wanted)
        if wanted["started_low"]:
            assert wanted["started_low"] < one.started_site <= wanted["started_high"], (one, wanted)
        else:
            assert one.started == 0
        assert record.first[0] - record.resolution <= one.time <= time.monotonic_ns()


def _assert_communicators(record: Record, truth: Dict[str, Any]) -> Dict[str, recorder.Communicator]:
    """By the names that the program has for them."""
    by_handle = {one.handle: one for one in record.live()}
    found = {}
    for wanted in truth["comms"]:
        one = by_handle[wanted["handle"]]
        assert (one.rank, one.size, one.collectives) == (wanted["rank"], wanted["size"], wanted["collectives"]), wanted
        assert not one.flags & (recorder.OWN_NAME | recorder.NOT_SEEN_MADE), wanted
        latest = [[each.function, -1 if each.root == NOT_GIVEN else each.root, each.count] for each in one.latest]
        for told, meant in zip(latest, wanted["latest"]):
            if meant[2] == -1:
                told[2] = -1
        assert latest == wanted["latest"], wanted["name"]
        found[wanted["name"]] = one
    return found


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 12))])
def test_random_calls(any_mpi: MpiBuild, seed: int) -> None:
    program = recorder.compiled(any_mpi, "posts.c")
    with Job(any_mpi, program, str(seed), "150", ranks=3) as job:
        named: Dict[str, Dict[int, recorder.Communicator]] = {}
        for rank in range(3):
            record = job.waiting(rank, "MPI_Recv")
            assert (record.world_rank, record.world_size, record.stage) == (rank, 3, recorder.RUNNING)
            assert record.pid == job.truth[rank]["pid"] and not any(record.lost.values())
            assert record.total_bytes <= 8 << 20
            _assert_open_requests(record, job.truth[rank])
            call = record.call_of()
            assert call is not None and (call.tag, call.count) == (31999, 7)
            for name, one in _assert_communicators(record, job.truth[rank]).items():
                named.setdefault(name, {})[rank] = one
        # Members call a communicator the same, and no two have one name.
        assert all(len({one.identity for one in ranks.values()}) == 1 for ranks in named.values())
        assert len({one.identity for ranks in named.values() for one in ranks.values()}) == len(named)
        # All did the same on each.
        for ranks in named.values():
            assert len({(one.order, one.contents, one.parent) for one in ranks.values()}) == 1


@pytest.mark.parametrize("binding", [1, 2, 3])
@pytest.mark.usual("debian-1", "mpich-debian-1")
def test_fortran(fortran_mpi: MpiBuild, binding: int) -> None:
    program = recorder.compiled(fortran_mpi, "posts.F90", f"-DBINDING={binding}")
    with Job(fortran_mpi, program, ranks=2) as job:
        identities = []
        for rank in range(2):
            record, truth = job.waiting(rank, "MPI_Recv"), job.truth[rank]
            mark = 0 if record.family == recorder.MPICH else recorder.FORTRAN_HANDLE
            copy, half, world = (mark | (truth[name] & 0xFFFFFFFF) for name in ("copy", "half", "world"))
            expected = [
                ("MPI_Irecv", 0, 1017, 5, copy, recorder.ACTIVE),
                ("MPI_Issend", 1, 1018, 6, world, recorder.ACTIVE),
                ("MPI_Recv_init", -1 if record.family == recorder.OPEN_MPI else -2, 1019, 7, half, recorder.STARTED),
                ("MPI_Send_init", rank, 6, 2, copy, recorder.INACTIVE),
                ("MPI_Recv_init", rank, 6, 2, copy, recorder.INACTIVE),
            ]
            told = [(one.function, one.peer, one.tag, one.count, one.object, one.state) for one in record.requests]
            assert told == expected
            words = [mark | (one & 0xFFFFFFFF) for one in (*truth["open"], *truth["inactive"])]
            assert [one.request for one in record.requests] == words
            assert {one.datatype for one in record.requests} == {mark | (truth["integer"] & 0xFFFFFFFF)}
            language = recorder.FORTRAN_2008 if binding == 3 else recorder.FORTRAN
            assert {one.marks for one in record.requests} == {language}
            lines = [recorder.line_of(job.pids[rank], program, one.site) for one in record.requests[:3]]
            assert lines == recorder.marked_lines("posts.F90", "open")
            call = record.call_of()
            assert call is not None and (call.count, call.tag, call.peer) == (8, 31999, 0)
            (line,) = recorder.marked_lines("posts.F90", "waits")
            assert recorder.line_of(job.pids[rank], program, call.site) == line
            # What the bindings call themselves is not told again.
            names = record.names()
            begun = ["MPI_Init", "MPI_Comm_dup", "MPI_Comm_split", "MPI_Comm_dup", "MPI_Comm_free", "MPI_Bcast"]
            assert names[:6] == begun and names.count("MPI_Isend") == 2 and names.count("MPI_Cancel") == 1
            assert len(record.live()) == 4
            (second,) = [one for one in record.live() if one.collectives == 3]
            told_last = [(one.function, one.count, one.root) for one in second.latest[1:]]
            assert told_last == [("MPI_Bcast", 3, 1), ("MPI_Allreduce", 2, NOT_GIVEN)]
            identities.append(second.identity)
        assert identities[0] == identities[1]


@pytest.mark.usual("debian", "mpich-debian")
def test_names_of_communicators(any_mpi: MpiBuild) -> None:
    program = recorder.compiled(any_mpi, "names.c")
    with Job(any_mpi, program, ranks=4) as job:
        named: Dict[str, List[recorder.Communicator]] = {}
        for rank in range(4):
            found = {one.handle: one for one in job.waiting(rank, "MPI_Recv").live()}
            for one in job.truth[rank]["comms"]:
                named.setdefault(one["name"], []).append(found[one["handle"]])
        assert len(named["between 0"]) == len(named["graph 0"]) == 4 and len(named["create 1"]) == 2
        for name, ranks in named.items():
            assert len({one.identity for one in ranks}) == 1, name
            assert len({(one.order, one.contents, one.collectives) for one in ranks}) == 1, name
            assert not any(one.flags & recorder.OWN_NAME for one in ranks), name
            assert {bool(one.flags & recorder.INTER) for one in ranks} == {name in ("between 0", "again 0")}
        assert len({ranks[0].identity for ranks in named.values()}) == len(named)


@pytest.mark.usual("mpich-debian")
def test_a_record_can_be_read_at_any_moment(any_mpi: MpiBuild) -> None:
    program = recorder.compiled(any_mpi, "busy.c")
    with Job(any_mpi, program, ranks=1) as job:
        for _ in range(30):
            os.kill(job.pids[0], signal.SIGSTOP)
            _await_stop(job.pids[0])
            record = job.record()
            os.kill(job.pids[0], signal.SIGCONT)
            (thread, *_) = record.threads
            calls = record.calls[0]
            written = [call.number for call in calls]
            # The latest may be torn, and the oldest under it.
            assert written == list(range(written[0], written[-1] + 1))
            # What stands in the frame of a send is no row of the ring yet, and may take none from it.
            in_ring = len(written) - (calls[-1].function == "MPI_Isend" and calls[-1].number == thread.current)
            assert thread.calls - written[-1] in (0, -1)
            assert in_ring in (thread.calls - 1, thread.calls, 4095, 4096)
            assert thread.current in (0, written[-1], written[-1] + 1)
            for call in calls:
                if call.function in ("MPI_Irecv", "MPI_Isend"):
                    assert (call.count, call.peer) == (call.tag % 64, 0) and call.site != 0
            assert all(one.count == one.tag % 64 for one in record.requests) and len(record.requests) <= 2
            time.sleep(0.002)


def _await_stop(pid: int) -> None:
    while processes.state(pid) != "T":
        time.sleep(0.0005)


def test_a_core_file_has_the_record(debian_mpi: MpiBuild, tmp_path: Path) -> None:
    program = recorder.compiled(debian_mpi, "posts.c")
    with Job(debian_mpi, program, "1", "60", ranks=1) as job:
        live = job.waiting(0, "MPI_Recv")
        command = ["gcore", "-o", str(tmp_path / "core"), str(job.pids[0])]
        subprocess.run(command, capture_output=True, text=True, check=True)
        assert recorder.of_core(tmp_path / f"core.{job.pids[0]}") == live
        _assert_open_requests(live, job.truth[0])


@pytest.mark.parametrize("flags", [("-O2",), ("-O0",), ("-O2", "-fno-omit-frame-pointer"), ("-O3", "-fno-plt")])
def test_callers_of_calls(debian_mpich: MpiBuild, flags: Sequence[str]) -> None:
    program = recorder.compiled(debian_mpich, "callers.c", *flags)
    with Job(debian_mpich, program, ranks=1) as job:
        record = job.waiting(0, "MPI_Recv")
        lines = {one.tag: recorder.line_of(job.pids[0], program, one.caller) for one in record.requests}
        marked = {tag: recorder.marked_lines("callers.c", f"tag {tag} */", before="/*") for tag in range(1, 6)}
        assert {tag: [line] for tag, line in lines.items()} == marked
        (persistent,) = [one for one in record.requests if one.state == recorder.STARTED]
        assert persistent.started_caller == persistent.caller
        (process,) = recorder.shown(*pid_options(job.pids))
    told = {one["tag"]: one["called_at"] for one in process["history"]["requests"]}
    assert {tag: [one["line"]] for tag, one in told.items()} == marked
    assert told[1]["caller"] == "main" and told[1]["file"].endswith("callers.c")


#: What tests/programs/recorder/arguments.c calls.
CALLED = (
    "Init Alltoallw Win_create Win_fence Put Win_fence Win_lock Get_accumulate Win_unlock Barrier Win_free File_open "
    "File_write_at_all File_sync Barrier File_iread_at Wait File_close Recv"
)


@pytest.mark.usual("debian", "mpich-debian")
def test_windows_files_and_many_arguments(any_mpi: MpiBuild) -> None:
    program = recorder.compiled(any_mpi, "arguments.c")
    with Job(any_mpi, program, ranks=3) as job:
        for rank in range(3):
            record = job.waiting(rank, "MPI_Recv")
            assert record.names() == [f"MPI_{name}" for name in CALLED.split()]
            assert record.requests == []
            by_name = {call.function: call for call in record.calls[0]}
            assert (by_name["MPI_Put"].peer, by_name["MPI_Put"].count) == ((rank + 1) % 3, 1)
            windows = ("MPI_Put", "MPI_Win_fence", "MPI_Win_lock", "MPI_Get_accumulate", "MPI_Win_free")
            assert len({by_name[name].object for name in windows}) == 1
            (world,) = [one for one in record.live() if one.handle == by_name["MPI_Alltoallw"].object]
            told = [one.function for one in world.latest]
            assert told == ["MPI_Alltoallw", "MPI_Win_create", "MPI_Barrier", "MPI_File_open", "MPI_Barrier"]
