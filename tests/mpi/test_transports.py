"""What is shown of jobs over other transports than ob1 is what their programs say they posted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Dict

import pytest
from support.builds import MpiBuild
from support.cli import mpi_queues as command_line
from support.cli import pid_options, show
from support.compare import assert_equal, lasting
from support.cores import gcore
from support.jobs import Job
from support.known import known_of
from support.truths import PROGRAMS, Program, name_of

StartJob = Callable[..., Job]

#: The tags of collectives on intracommunicators, ompi/mca/coll/base/coll_tags.h of Open MPI 4.1.4 and 5.0.7;
#: src/include/mpir_tags.h of MPICH 5.0.1.
COLLECTIVE_TAGS = {
    "Open MPI": {"MPI_Barrier": -16, "MPI_Bcast": -17, "MPI_Allreduce": -12},
    "MPICH": {"MPI_Barrier": 1, "MPI_Bcast": 2, "MPI_Allreduce": 14},
}


def _assert_equal_to_truth(job: Job, shown: Dict[int, Any]) -> None:
    assert sorted(shown) == sorted(job.pids)
    assert job.build.transport is not None
    for rank, truth in sorted(job.truth.items()):
        process = shown[job.pids[rank]]
        assert process["source"]["kind"] == "builtin"
        assert process["mpi"]["version"] == job.build.version
        assert process["mpi"]["transport"] == job.build.transport.told
        assert_equal(truth, process, known=known_of(job.build.id))
        if truth["call"] is not None:
            calls = [call["function"].removeprefix("P") for call in process["calls"]]
            assert truth["call"] in calls, f"rank {rank} is in {truth['call']}, shown are {process['calls']}"


@pytest.mark.parametrize("program", PROGRAMS, ids=name_of)
@pytest.mark.usual(
    "debian+ucx-random-1-200-3ranks",
    "wheel-5*+ucx-persistent-3ranks",
    "wheel-5*+ucx-modes-2ranks",
    "debian+ofi-tcp-ofi_rxm-comms-4ranks",
)
def test_snapshot_equals_what_was_posted(transport_build: MpiBuild, start_job: StartJob, program: Program) -> None:
    name, arguments, ranks = program
    job = start_job(transport_build, name, *arguments, ranks=ranks)
    _assert_equal_to_truth(job, show(job.pids))
    job.assert_running()


@pytest.mark.usual("debian+ofi-tcp-ofi_rxm")
def test_standard_sends_that_wait_are_known(transport_build: MpiBuild, start_job: StartJob) -> None:
    """To ranks that take no part in MPI any more, whose own queues nobody notes."""
    over_sockets = transport_build.id.endswith("+ofi-sockets")
    # There the receiver's library takes in all that comes.
    job = start_job(transport_build, "truth_waiting", "10", "1048576", *([] if over_sockets else ["blocking"]), ranks=3)
    shown = show(job.pids)[job.pids[0]]
    assert_equal(job.truth[0], shown, known=known_of(transport_build.id))
    if not known_of(transport_build.id).is_exact("sends.listed"):
        return
    posted = [op for op in job.truth[0]["sends"] if op["status"] == "pending"]
    sends = [op for comm in shown["communicators"] for op in comm["pending_sends"]["operations"]]
    waiting = [op for op in sends if op["status"] == "pending"]
    assert len(waiting) == len(posted)
    assert over_sockets or len(posted) > 5
    assert all(op["desired_tag"] is not None and op["desired_length"] for op in waiting), waiting


@pytest.mark.slow
def test_every_kind_of_target_gives_the_same(transport_build: MpiBuild, start_job: StartJob, tmp_path: Path) -> None:
    """Blocking sends, too, which lie on stacks."""
    job = start_job(transport_build, "truth_modes", ranks=2)
    first = show(job.pids)
    _assert_equal_to_truth(job, first)
    cores = [
        part for pid in job.pids for part in ("--core", str(gcore(pid, tmp_path / "core")), "--exe", str(job.program))
    ]
    recording = tmp_path / "all.mpirec"
    result = command_line("record", *pid_options(job.pids), "-o", str(recording))
    assert result.status == 0, str(result)
    for target in (cores, ["--recording", str(recording)]):
        result = command_line("show", *target, "--format", "json")
        assert result.status == 0, str(result)
        for process in json.loads(result.out)["processes"]:
            assert lasting(process) == lasting(first[process["pid"]]), target


@pytest.mark.parametrize("collective", ["barrier", "bcast", "allreduce"])
@pytest.mark.usual("debian+ucx-allreduce")
def test_internal_operations_name_their_collective(
    transport_build: MpiBuild, start_job: StartJob, collective: str
) -> None:
    """Two ranks: rank 0 waits for the one message that the missing rank 1 would send first."""
    job = start_job(transport_build, "truth_collective", collective, ranks=2)
    shown = show(job.pids, "--internal")
    call = job.truth[0]["collective"]["call"]
    blocked = next(c for c in shown[job.pids[0]]["communicators"] if c["name"] == "stuck")
    internal = [op for op in blocked["pending_receives"]["operations"] if op["internal"]]
    assert [op["desired_local_rank"] for op in internal] == [1]
    assert internal[0]["desired_tag"] == COLLECTIVE_TAGS[transport_build.implementation][call]
    assert call in " ".join(internal[0]["extra_text"])
    missing = next(c for c in shown[job.pids[1]]["communicators"] if c["name"] == "stuck")
    assert not [op for op in missing["pending_receives"]["operations"] if op["internal"]]


@pytest.mark.slow
def test_requests_mean_what_was_posted(transport_build: MpiBuild, start_job: StartJob) -> None:
    """Of what is known of them; the rest has its reason."""
    job = start_job(transport_build, "truth_persistent", ranks=2)
    for rank, pid in enumerate(job.pids):
        result = command_line("handles", "request", "--pid", str(pid), "--format", "json")
        assert result.status == 0, str(result)
        [process] = json.loads(result.out)["processes"]
        [requests] = process["handles"]
        told = {one["handle"]: one["facts"] for one in requests["handles"]}
        truth = job.truth[rank]
        posted = [
            (op, kind)
            for kind in ("sends", "receives")
            for op in truth[kind]
            if op["request"] is not None and not op.get("optional") and not op["cancelled"]
        ]
        assert len(posted) > 10
        for op, kind in posted:
            facts = told[op["request"]]
            assert facts["direction"] == kind[:-1], op
            for name, value in (("any_source", op["peer"] is None), ("any_tag", op["tag"] is None)):
                assert facts[name] in (value, None), (name, op, facts)
            for name, value in (
                ("peer", op["peer"]),
                ("tag", op["tag"]),
                ("bytes", op["bytes"]),
                ("count", op["count"]),
            ):
                if value is not None and (op["status"] == "pending" or op["persistent"]):
                    assert facts[name] == value or (name == "count" and not op["persistent"]), (name, op, facts)
