"""Intel MPI, whose structures nobody publishes: communicators are right as far as told, all else is not known."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Callable, Dict

import pytest
from support import diagnosis
from support.builds import MpiBuild, intel_environment
from support.cli import mpi_queues as command_line
from support.cli import pid_options, show
from support.jobs import Job
from support.paths import PROGRAMS
from support.transports import Transport

StartJob = Callable[..., Job]
REASON = "Intel does not publish the structures of its library"


def _assert_communicators(truth: Dict[str, Any], process: Dict[str, Any]) -> None:
    shown = {comm["handle"]: comm for comm in process["communicators"]}
    assert len(shown) == len(process["communicators"])
    for posted in truth["communicators"]:
        found = shown.pop(posted["handle"], None)
        if found is None and posted.get("optional"):
            continue
        assert found is not None, f"missing: {posted}"
        assert (found["local_rank"], found["size"]) == (posted["local_rank"], posted["size"]), posted
        # Empty names are those of communicators without one, too.
        assert found["name"] == (posted["name"] or ""), posted
        assert found["group"] in (None, posted["group"]), posted
        remote = [None for _ in posted["remote_group"]] if posted["remote_group"] is not None else None
        assert found["remote_group"] == remote, posted
        for queue in ("pending_sends", "pending_receives", "unexpected_messages"):
            assert (found[queue]["state"], found[queue]["operations"]) == ("no_information", [])
            assert REASON in found[queue]["detail"]
    assert shown == {}, "shown, but not there"


@pytest.mark.parametrize(("program", "ranks"), [("truth_comms", 2), ("truth_comms", 3), ("truth_modes", 2)])
def test_communicators_are_right_and_queues_not_known(
    intel_mpi: MpiBuild, start_job: StartJob, program: str, ranks: int
) -> None:
    job = start_job(intel_mpi, program, ranks=ranks, env=intel_environment(intel_mpi))
    shown = show(job.pids)
    for rank, truth in job.truth.items():
        process = shown[job.pids[rank]]
        assert process["mpi"]["implementation"] == "Intel MPI"
        assert (process["rank"], process["world_size"], process["problems"]) == (rank, ranks, [])
        _assert_communicators(truth, process)
    job.assert_running()


def test_the_text_says_why_and_never_that_a_queue_is_empty(intel_mpi: MpiBuild, start_job: StartJob) -> None:
    job = start_job(intel_mpi, "truth_modes", ranks=2, env=intel_environment(intel_mpi))
    result = command_line("show", *pid_options(job.pids))
    assert result.status == 0, str(result)
    words = " ".join(result.out.split())
    assert REASON in words and ": none" not in words, result.out


def test_calls_and_arguments_show_a_deadlock(intel_mpi: MpiBuild) -> None:
    program = diagnosis.load(PROGRAMS / "bugs" / "head_to_head_recv.c", False)
    assert program is not None
    own = Transport("shm", "ch4:ofi", variables=tuple(intel_environment(intel_mpi).items()))
    with program.start(replace(intel_mpi, transport=own)) as job:
        said = json.loads(command_line("diagnose", "--job", str(job.launcher_pid), "--format", "json").out)
    assert program.at_one_look().missing(said) == [], json.dumps(said["diagnosis"], indent=1)
    assert {"kind": "queues_not_read", "ranks": [0, 1]} in said["verdict"]["limited_by"], said["verdict"]
