"""What many nodes say together is what one machine says: virtual nodes share one /proc, so both can be asked."""

from __future__ import annotations

import contextlib
import json
import time
from typing import Any, Callable, Dict, Iterator, List

import pytest
from support import builds, diagnosis
from support.cli import mpi_queues
from support.paths import PROGRAMS
from support.slurm import Slurm
from support.transports import JOB

#: Of every kind of bug some, and programs without one.
BUGS = (
    "head_to_head_recv.c",
    "head_to_head_ssend.c",
    "wrong_tag.c",
    "ring_ssend.c",
    "ring_recv.c",
    "missing_in_barrier.c",
    "two_communicators.c",
    "order_of_messages.c",
    "order_of_communicators.c",
    "bcast_against_reduce.c",
    "count_mismatch.c",
    "chain_to_cycle.c",
    "intercomm_tags.c",
    "iallreduce_missed.c",
    "ibcast_roots.c",
    "persistent_wrong_tag.c",
    "waitall_before_sends.c",
    "probe_wrong_tag.c",
    "sendrecv_partner.c",
    "split_not_by_all.c",
    "f_ring.f90",
    "stuck_in_semaphore.c",
    "endless_loop.c",
)
#: In every run of the tests.
USUAL = ("wrong_tag.c", "missing_in_barrier.c", "endless_loop.c")

#: Ranks that have said that they are ready come to the place within this; only keeps a failing test from taking long.
REST_TIMEOUT = 60.0


@pytest.fixture(scope="module")
def slurm() -> Iterator[Slurm]:
    with Slurm(4) as cluster:
        yield cluster


def said(slurm: Slurm, *target: str) -> Dict[str, Any]:
    result = mpi_queues("diagnose", *target, "--format", "json", environment=slurm.environment)
    # 1: ranks that have ended cannot be read.
    assert result.status in (0, 1), str(result)
    found: Dict[str, Any] = json.loads(result.out)
    return found


def told(found: Dict[str, Any]) -> List[Any]:
    """All that is concluded, without process ids and times."""
    findings = [{name: value for name, value in one.items() if name != "evidence"} for one in found["diagnosis"]]
    return [found["verdict"]["state"], found["verdict"].get("finding"), findings]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in USUAL else (pytest.mark.slow,)) for name in BUGS]
)
def test_nodes_say_what_one_machine_says(slurm: Slurm, name: str) -> None:
    program = loaded(name)
    with started(slurm, program) as number:
        over = found_over_nodes(slurm, number, lambda found: program.missing(found))
        assert [one["rank"] for one in over["processes"]] == list(range(program.ranks))
        pids = [word for one in over["processes"] for word in ("--pid", str(one["pid"]))]
        assert told(over) == told(said(slurm, *pids))


#: Under srun ranks end while others wait: MPI_Finalize of Open MPI waits for nobody there.
@pytest.mark.parametrize(
    ("name", "ended", "kind"),
    [("finalize_while_others_wait.c", [1], "finished rank"), ("different_roots.c", [0, 1], "root mismatch")],
)
def test_a_rank_that_no_node_has_has_ended(slurm: Slurm, name: str, ended: List[int], kind: str) -> None:
    def missing(found: Dict[str, Any]) -> List[str]:
        # A rank that is just ending may have no stage that can be told.
        gone = [one["rank"] for one in found["processes"] if one.get("stage") == "ended"]
        first = next((one["kind"] for one in found["diagnosis"]), None)
        told = (gone, found["verdict"]["state"], first)
        return [] if told == (ended, "deadlock", kind) else [str(told)]

    with started(slurm, loaded(name)) as number:
        found_over_nodes(slurm, number, missing)


def loaded(name: str) -> diagnosis.Program:
    program = diagnosis.load(PROGRAMS / "bugs" / name, build_is_mpich=False)
    assert program is not None
    return program


@contextlib.contextmanager
def started(slurm: Slurm, program: diagnosis.Program) -> Iterator[str]:
    """A job on up to four nodes; its number."""
    number = slurm.run(program.compiled(builds.debian()), program.ranks, JOB, nodes=min(4, program.ranks))
    try:
        yield number
    finally:
        slurm.cancel(number)


def found_over_nodes(slurm: Slurm, number: str, missing: Callable[[Dict[str, Any]], List[str]]) -> Dict[str, Any]:
    """What is said of a job once nothing is missing: its ranks may still be on their way to the place, for a while."""
    deadline = time.monotonic() + REST_TIMEOUT
    while wrong := missing(found := said(slurm, "--job", f"slurm:{number}")):
        assert time.monotonic() < deadline, wrong
    return found
