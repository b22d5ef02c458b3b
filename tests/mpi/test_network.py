"""MPICH where messages do not go through shared memory: what is told is right, what is not says why."""

from __future__ import annotations

from typing import Any, Callable

import pytest
from support.builds import MpiBuild
from support.cli import show
from support.compare import compare
from support.jobs import Job
from support.known import OverNetwork

StartJob = Callable[..., Job]


def _unknown(difference: Any) -> bool:
    """Whether a queue says that it is not known."""
    return bool((difference.kind, difference.found) == ("state", "no_information"))


@pytest.mark.parametrize(
    ("program", "arguments", "ranks"),
    [
        ("truth_comms", (), 3),
        ("truth_modes", (), 2),
        ("truth_persistent", (), 2),
        ("truth_probe", (), 2),
        ("truth_random", ("7", "200"), 3),
    ],
)
@pytest.mark.usual("mpich-debian-truth_modes-arguments1-2")
def test_nothing_is_wrong_over_a_network(
    mpich_build: MpiBuild, start_job: StartJob, program: str, arguments: Any, ranks: int
) -> None:
    job = start_job(mpich_build, program, *arguments, ranks=ranks, env={"MPIR_CVAR_NOLOCAL": "1"})
    shown = show(job.pids)
    told = 0
    for rank, truth in job.truth.items():
        process = shown[job.pids[rank]]
        differences = compare(truth, process, known=OverNetwork())
        names = [one for one in differences if not _unknown(one) and one.name != "name_set"]
        assert process["problems"] == [] and names == [], "\n".join(map(str, names))
        told += sum(len(comm["pending_receives"]["operations"]) for comm in process["communicators"])
    # All of these programs receive.
    assert told > 0
    job.assert_running()
