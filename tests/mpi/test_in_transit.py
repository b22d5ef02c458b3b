"""Messages that lie in shared memory are shown as in transit: every message that was sent is there, once."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple

import pytest
from support import diagnosis
from support.builds import MpiBuild
from support.cli import mpi_queues, pid_options, show
from support.compare import assert_equal
from support.jobs import Job
from support.known import known_of
from support.paths import PROGRAMS

StartJob = Callable[..., Job]
Message = Tuple[int, int]

#: Seed, messages of each sender, the largest, and how many were sent before; ranks. All find room.
ROOM = [(("1", "5", "3000", "0"), 2), (("2", "12", "100000", "40"), 2), (("3", "20", "5000", "40"), 4)]
#: The same, and more than there is room for.
NO_ROOM = ("5", "400", "1000", "40")
#: MPICHs whose messages within a node go another way than through cells that are read.
WITHOUT_CELLS = ("mpich-debian-4.0.2", "mpich-debian-4.2.1", "mpich-wheel-3.4.3")
PML_UCX = {"pml": "ucx", "opal_common_ucx_tls": "any", "opal_common_ucx_devices": "any"}
#: Only keeps a failing test from taking long.
PATIENCE = 60.0


def _in_transit(process: Dict[str, Any], *, internal: bool) -> List[Any]:
    queues = [communicator["unexpected_messages"]["operations"] for communicator in process["communicators"]]
    return [one for queue in queues for one in queue if (one["status"], one["internal"]) == ("in_transit", internal)]


def _name(room: Tuple[Tuple[str, ...], int]) -> str:
    return f"{room[0][1]}-of-{room[0][2]}-{room[1]}ranks"


@pytest.mark.parametrize("room", ROOM, ids=_name)
@pytest.mark.usual("debian-12-of-100000-2ranks", "wheel-5*-12-of-100000-2ranks")
def test_all_that_was_sent_is_there(
    mpi_build: MpiBuild, start_job: StartJob, room: Tuple[Tuple[str, ...], int]
) -> None:
    arguments, ranks = room
    job = start_job(mpi_build, "truth_in_transit", *arguments, ranks=ranks)
    shown = show(job.pids, "--internal")
    for rank, truth in job.truth.items():
        process = shown[job.pids[rank]]
        assert_equal(truth, process, internal=True)
        assert process["notes"] == []
    first = shown[job.pids[0]]
    messages = _in_transit(first, internal=False)
    assert len(messages) == int(arguments[1]) * (ranks - 1)
    assert all(one["evidence"] for one in messages)
    # Those of the collective whose root does not come.
    assert _in_transit(first, internal=True)
    job.assert_running()


@pytest.mark.parametrize("room", ROOM[::2], ids=_name)
@pytest.mark.usual("mpich-wheel-*-20-of-5000-4ranks")
def test_what_mpich_has_in_its_cells(
    mpich_build: MpiBuild, start_job: StartJob, room: Tuple[Tuple[str, ...], int]
) -> None:
    """Where the network's library or an older release has them there may be fewer, and no others."""
    arguments, ranks = room
    job = start_job(mpich_build, "truth_in_transit", *arguments, ranks=ranks)
    shown = show(job.pids, "--internal")
    first = shown[job.pids[0]]
    if mpich_build.id in WITHOUT_CELLS:
        shown_tags = {one["desired_tag"] for one in _in_transit(first, internal=False)}
        assert shown_tags <= {one["tag"] for one in job.truth[0]["unexpected"]}
        return
    for rank, truth in job.truth.items():
        assert_equal(truth, shown[job.pids[rank]], internal=True, known=known_of(mpich_build.id))
    assert first["notes"] == []
    assert len(_in_transit(first, internal=False)) == int(arguments[1]) * (ranks - 1)
    assert _in_transit(first, internal=True)


def test_what_finds_no_room_waits_at_its_sender(mpi_build: MpiBuild, start_job: StartJob) -> None:
    # The fast box alone holds as many.
    assert _each_once(start_job(mpi_build, "truth_in_transit", *NO_ROOM)) > 30


def test_each_message_once_over_ucx_of_mpich(debian_mpich: MpiBuild, start_job: StartJob) -> None:
    """Where UCX has to connect first, all but the first wait at their sender."""
    assert _each_once(start_job(debian_mpich, "truth_in_transit", *NO_ROOM)) > 0


def test_each_message_once_over_ucx_of_open_mpi(debian_mpi: MpiBuild, start_job: StartJob) -> None:
    assert _each_once(start_job(debian_mpi, "truth_in_transit", *NO_ROOM, mca=PML_UCX)) > 0


def _each_once(job: Job) -> int:
    """How many are in transit: the first that rank 1 sent to rank 0 on each communicator; the others are pending."""
    shown = show(job.pids)
    first, second = (shown[pid] for pid in job.pids)
    for communicator in first["communicators"]:
        sent: List[Message] = [
            (one["tag"], one["bytes"])
            for one in job.truth[0]["unexpected"]
            if one["comm"] == communicator["handle"] and one["status"] == "in_transit"
        ]
        found: List[Message] = [
            (one["desired_tag"], one["desired_length"])
            for one in communicator["unexpected_messages"]["operations"]
            if one["status"] == "in_transit"
        ]
        assert found == sent[: len(found)]
        at_sender = next(one for one in second["communicators"] if one["name"] == communicator["name"])
        waiting = Counter(
            (one["desired_tag"], one["desired_length"])
            for one in at_sender["pending_sends"]["operations"]
            if one["status"] == "pending"
        )
        assert not Counter(sent[len(found) :]) - waiting
    assert first["notes"] == []
    job.assert_running()
    return len(_in_transit(first, internal=False))


@pytest.mark.slow
def test_a_recording_and_the_text_have_them(debian_mpi: MpiBuild, start_job: StartJob, tmp_path: Path) -> None:
    job = start_job(debian_mpi, "truth_in_transit", *ROOM[1][0])
    recording = tmp_path / "job.mpirec"
    result = mpi_queues("record", *pid_options(job.pids), "-o", str(recording))
    assert result.status == 0, str(result)
    result = mpi_queues("show", "--recording", str(recording), "--format", "json")
    processes = {process["rank"]: process for process in json.loads(result.out)["processes"]}
    for rank, truth in job.truth.items():
        assert_equal(truth, processes[rank])
    text = mpi_queues("show", "--recording", str(recording)).out
    assert text.count(" in transit") == int(ROOM[1][0][1]), text


def test_the_diagnosis_counts_them(debian_mpi: MpiBuild, preflight: None) -> None:
    program = diagnosis.load(PROGRAMS / "fine" / "letters_at_the_door.c", False)
    assert program is not None
    words = "it does not take part in MPI: 3 messages wait for it"
    deadline = time.monotonic() + PATIENCE
    with program.start(debian_mpi) as job:
        while True:
            said = json.loads(mpi_queues("diagnose", "--job", str(job.launcher_pid), "--format", "json").out)
            slow = [one["summary"] for one in said["diagnosis"] if one["kind"] == "slow rank"]
            if any(words in summary for summary in slow):
                return
            assert time.monotonic() < deadline, json.dumps(said["diagnosis"], indent=1)
