"""Sends over libfabric's shm before 2.5, which keeps them elsewhere."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Callable, Dict, List, Tuple

from support.builds import MpiBuild
from support.cli import show
from support.compare import assert_equal
from support.jobs import Job
from support.known import known_of


def test_standard_sends_that_wait_are_known_in_their_order(older_shm: MpiBuild, start_job: Callable[..., Job]) -> None:
    job = start_job(older_shm, "truth_waiting", "10", "1048576", ranks=3)
    truth, shown = job.truth[0], show(job.pids)[job.pids[0]]
    assert_equal(truth, shown, known=known_of("mpich-wheel-5.0.2+ofi-shm"))
    posted: Dict[int, List[Tuple[int, int]]] = defaultdict(list)
    listed: Dict[int, List[Tuple[int, int]]] = defaultdict(list)
    for op in truth["sends"]:
        if op["status"] == "pending":
            posted[op["peer"]].append((op["tag"], op["bytes"]))
    for comm in shown["communicators"]:
        queue: Dict[str, Any] = comm["pending_sends"]
        assert "unordered" not in queue and queue["state"] == "ok", queue
        waiting: List[Any] = [op for op in queue["operations"] if op["status"] == "pending"]
        for op in waiting:
            assert op["buffer"] is not None and op["evidence"]
            listed[op["desired_global_rank"]].append((op["desired_tag"], op["desired_length"]))
    # Rank 1 is sent to on one communicator, rank 2 on the other.
    assert len(posted) == 2 and listed == posted
