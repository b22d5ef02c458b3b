"""What the built-in reader shows of real jobs is what their programs say they posted."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Tuple

import pytest
from support.builds import MpiBuild
from support.cli import show
from support.compare import assert_equal
from support.jobs import Job
from support.truths import Program, name_of

StartJob = Callable[..., Job]

PROGRAMS: List[Program] = [
    ("truth_modes", (), 2),
    ("truth_modes", (), 3),
    ("truth_comms", (), 2),
    ("truth_comms", (), 3),
    ("truth_comms", (), 4),
    ("truth_persistent", (), 2),
    ("truth_persistent", (), 4),
    ("truth_collective", ("barrier",), 3),
    ("truth_collective", ("bcast",), 4),
    ("truth_collective", ("allreduce",), 2),
    ("truth_collective", ("ibarrier",), 4),
    ("truth_threads", (), 2),
    ("truth_probe", (), 2),
    ("truth_random", ("1", "300"), 4),
    ("truth_random", ("2", "500"), 2),
    ("truth_random", ("20261120", "400"), 3),
]


def _assert_equal_to_truth(job: Job, shown: Dict[int, Any]) -> None:
    assert sorted(shown) == sorted(job.pids)
    for rank, truth in sorted(job.truth.items()):
        process = shown[job.pids[rank]]
        assert process["source"]["kind"] == "builtin"
        assert process["source"]["via"] == "native"
        assert process["mpi"]["version"] == job.build.version
        assert process["mpi"]["transport"] == "ob1"
        assert process["executable"] == str(job.program)
        assert_equal(truth, process)
        if truth["call"] is not None:
            calls = [call["function"].removeprefix("P") for call in process["calls"]]
            assert truth["call"] in calls, f"rank {rank} is in {truth['call']}, shown are {process['calls']}"


@pytest.mark.parametrize("program", PROGRAMS, ids=name_of)
@pytest.mark.usual(
    "debian-persistent-2ranks",
    "debian-collective-ibarrier-4ranks",
    "debian-threads-2ranks",
    "debian-random-1-300-4ranks",
    "wheel-5*-comms-3ranks",
    "wheel-5*-modes-3ranks",
)
def test_snapshot_equals_what_was_posted(
    mpi_build: MpiBuild, start_job: StartJob, program: Tuple[str, Tuple[str, ...], int]
) -> None:
    name, arguments, ranks = program
    job = start_job(mpi_build, name, *arguments, ranks=ranks)
    _assert_equal_to_truth(job, show(job.pids))
    job.assert_running()


@pytest.mark.slow
def test_reading_twice_gives_the_same(mpi_build: MpiBuild, start_job: StartJob) -> None:
    job = start_job(mpi_build, "truth_persistent", ranks=2)
    first, second = show(job.pids), show(job.pids)
    for pid in job.pids:
        assert first[pid]["communicators"] == second[pid]["communicators"]
    job.assert_running()


@pytest.mark.slow
def test_lazily_created_processes_have_their_world_ranks(mpi_build: MpiBuild, start_job: StartJob) -> None:
    """With a cutoff of 0 (the default) the library creates processes on first use, with it above the size at once."""
    for cutoff in ("0", "1024"):
        job = start_job(mpi_build, "truth_comms", ranks=4, mca={"mpi_add_procs_cutoff": cutoff})
        _assert_equal_to_truth(job, show(job.pids))


#: Makes a receiver wait for the sender's help, instead of fetching the data from its memory.
THROUGH_THE_SENDER = {"4.1": {"btl_vader_single_copy_mechanism": "none"}, "5.0": {"smsc": "^cma,xpmem,knem"}}


def test_a_transfer_that_has_begun_is_matched(mpi_build: MpiBuild, start_job: StartJob) -> None:
    job = start_job(mpi_build, "truth_matched", ranks=2, mca=THROUGH_THE_SENDER[mpi_build.series])
    _assert_equal_to_truth(job, show(job.pids))
    job.assert_running()


#: The tags of collectives on intracommunicators, ompi/mca/coll/base/coll_tags.h of Open MPI 4.1.4 and 5.0.7.
COLLECTIVE_TAGS = {"MPI_Barrier": -16, "MPI_Bcast": -17, "MPI_Allreduce": -12}


@pytest.mark.parametrize("collective", ["barrier", "bcast", "allreduce"])
@pytest.mark.usual("wheel-5*-allreduce")
def test_internal_operations_name_their_collective(mpi_build: MpiBuild, start_job: StartJob, collective: str) -> None:
    """Two ranks: rank 0 waits for the one message that the missing rank 1 would send first."""
    job = start_job(mpi_build, "truth_collective", collective, ranks=2)
    shown = show(job.pids, "--internal")
    for rank, truth in job.truth.items():
        assert_equal(truth, shown[job.pids[rank]], internal=True)
    call = job.truth[0]["collective"]["call"]
    blocked = next(c for c in shown[job.pids[0]]["communicators"] if c["name"] == "stuck")
    internal = [op for op in blocked["pending_receives"]["operations"] if op["internal"]]
    assert [op["desired_local_rank"] for op in internal] == [1]
    assert internal[0]["desired_tag"] == COLLECTIVE_TAGS[call]
    assert internal[0]["status"] == "pending"
    assert call in " ".join(internal[0]["extra_text"])
    missing = next(c for c in shown[job.pids[1]]["communicators"] if c["name"] == "stuck")
    assert not [op for op in missing["pending_receives"]["operations"] if op["internal"]]


@pytest.mark.slow
def test_each_blocked_rank_of_a_collective_shows_internal_operations(mpi_build: MpiBuild, start_job: StartJob) -> None:
    job = start_job(mpi_build, "truth_collective", "barrier", ranks=4)
    shown = show(job.pids, "--internal")
    for rank in range(3):
        comm = next(c for c in shown[job.pids[rank]]["communicators"] if c["name"] == "stuck")
        internal = [op for op in comm["pending_receives"]["operations"] if op["internal"]]
        assert internal, f"rank {rank} is blocked in MPI_Barrier and shows nothing internal"
        assert {op["desired_tag"] for op in internal} == {COLLECTIVE_TAGS["MPI_Barrier"]}


@pytest.mark.slow
def test_a_nonblocking_barrier_in_flight_is_shown(mpi_build: MpiBuild, start_job: StartJob) -> None:
    job = start_job(mpi_build, "truth_collective", "ibarrier", ranks=2)
    shown = show(job.pids, "--internal")
    comm = next(c for c in shown[job.pids[0]]["communicators"] if c["name"] == "stuck")
    internal = [op for op in comm["pending_receives"]["operations"] if op["internal"]]
    assert [(op["desired_local_rank"], op["any_source"]) for op in internal] == [(1, False)]
    assert internal[0]["desired_tag"] < -26


def test_filters_by_communicator_and_rank(mpi_build: MpiBuild, start_job: StartJob) -> None:
    job = start_job(mpi_build, "truth_modes", ranks=2)
    shown = show(job.pids, "--comm", "wildcard", "--rank", "1")
    assert list(shown) == [job.pids[1]]
    assert [comm["name"] for comm in shown[job.pids[1]]["communicators"]] == ["wildcard"]
    job.assert_running()
