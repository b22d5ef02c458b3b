"""Pmls that stand before another one: what the real one has is read as without them."""

from __future__ import annotations

import json
from typing import Callable, Dict, List, Optional, Tuple

import pytest
from support import builds
from support.builds import DEBIAN, WHEEL, MpiBuild
from support.cli import mpi_queues, pid_options, show
from support.compare import assert_equal
from support.jobs import PML_MONITORING, Job
from support.known import ALL_KNOWN, known_of
from support.transports import MONITORING, UCX, Transport, monitored, over_libfabric
from support.truths import PROGRAMS, Program, name_of

StartJob = Callable[..., Job]

#: The protocol of the wrapper v takes no messages to oneself and no probes: in 5.0.11 programs that have them end in it
#: (vprotocol_pessimist_sender_based_copy_start is given a request that is complete and none of the pml's,
#: ompi/mca/vprotocol/pessimist/vprotocol_pessimist_send.c, v5.0.10).
PESSIMIST = {
    "btl": "tcp,self",
    "vprotocol": "pessimist",
    "vprotocol_pessimist_allow_thread_multiple": "1",
    "vprotocol_pessimist_sender_based_chunk": "1048576",
}

#: What monitoring stands before, by build; None: ob1.
BEHIND: List[Tuple[str, Optional[Transport]]] = [
    (DEBIAN, None),
    (WHEEL, None),
    (DEBIAN, UCX),
    (WHEEL, UCX),
    (DEBIAN, over_libfabric("tcp;ofi_rxm")),
    (WHEEL, over_libfabric("tcp")),
]

#: Without intercommunicators, for which monitoring crashes.
MONITORED = [program for program in PROGRAMS if program[0] != "truth_comms"]


def _id(behind: Tuple[str, Optional[Transport]]) -> str:
    name, transport = behind
    return f"{name}-{transport.name if transport is not None else 'ob1'}"


def _assert_read_through(job: Job, told: str, build_id: str) -> None:
    known = known_of(build_id) if "+" in build_id else ALL_KNOWN
    shown = show(job.pids)
    for rank, truth in job.truth.items():
        process = shown[job.pids[rank]]
        assert process["mpi"]["transport"] == told
        assert_equal(truth, process, known=known)
    job.assert_running()


@pytest.mark.parametrize("program", MONITORED, ids=name_of)
@pytest.mark.parametrize("behind", BEHIND, ids=_id)
@pytest.mark.slow
def test_monitoring_is_read_through(
    preflight: None, start_job: StartJob, behind: Tuple[str, Optional[Transport]], program: Program
) -> None:
    base, transport = behind
    build = builds.over(base, monitored(transport) if transport is not None else MONITORING)
    bare = builds.BUILDS[base]() if transport is None else builds.over(base, transport)
    name, arguments, ranks = program
    job = start_job(build, name, *arguments, ranks=ranks)
    assert build.transport is not None
    _assert_read_through(job, build.transport.told, bare.id)


@pytest.mark.parametrize(
    ("mca", "told", "program"),
    [
        (PML_MONITORING, "ob1 behind monitoring", ("truth_modes",)),
        ({**PML_MONITORING, **PESSIMIST}, "ob1 behind monitoring, v", ("truth_tvtest", "posted")),
    ],
    ids=["monitoring", "monitoring-v"],
)
def test_all_wrappers_are_told(
    debian_mpi: MpiBuild, start_job: StartJob, mca: Dict[str, str], told: str, program: Tuple[str, ...]
) -> None:
    job = start_job(debian_mpi, *program, ranks=2, mca=mca)
    # In 4.1 the protocol never loads; in 5.0 it stands before monitoring.
    if "vprotocol" in mca and debian_mpi.series.startswith("5."):
        told = "ob1 behind v, monitoring"
    _assert_read_through(job, told, debian_mpi.id)
    text = mpi_queues("show", *pid_options(job.pids))
    assert f"transport {told}" in text.out, str(text)


@pytest.mark.parametrize(
    ("program", "arguments", "ranks"),
    [("truth_tvtest", ("posted",), 2), ("truth_threads", (), 2), ("truth_collective", ("barrier",), 3)],
    ids=["tvtest", "threads", "collective"],
)
@pytest.mark.slow
def test_a_protocol_that_makes_requests_larger(
    wheel_mpi: MpiBuild, start_job: StartJob, program: str, arguments: Tuple[str, ...], ranks: int
) -> None:
    job = start_job(wheel_mpi, program, *arguments, ranks=ranks, mca=PESSIMIST)
    _assert_read_through(job, "ob1 behind v", wheel_mpi.id)
    result = mpi_queues("handles", "request", "--pid", str(job.pids[0]), "--format", "json")
    assert result.status == 0, str(result)
    [process] = json.loads(result.out)["processes"]
    told = {one["handle"]: one["facts"] for one in process["handles"][0]["handles"]}
    for op in job.truth[0]["receives"]:
        if op["request"] is not None and op["status"] == "pending":
            facts = told[op["request"]]
            assert (facts["direction"], facts["bytes"]) == ("receive", op["bytes"]), facts
