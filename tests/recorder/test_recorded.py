"""The flight recorder against what programs say they posted."""

from __future__ import annotations

from typing import Any, Dict

import pytest
from support import recorder
from support.builds import MpiBuild
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
        assert record.first[0] < one.ticks


def _assert_communicators(record: Record, truth: Dict[str, Any]) -> Dict[str, recorder.Communicator]:
    """By the names that the program has for them."""
    by_handle = {one.handle: one for one in record.live()}
    found = {}
    for wanted in truth["comms"]:
        one = by_handle[wanted["handle"]]
        assert (one.rank, one.size, one.collectives) == (wanted["rank"], wanted["size"], wanted["collectives"]), wanted
        assert not one.flags & (recorder.OWN_NAME | recorder.NOT_SEEN_MADE), wanted
        latest = [
            [each.function, -1 if each.root == NOT_GIVEN else each.root, each.count]
            for each in one.latest
        ]
        for told, meant in zip(latest, wanted["latest"]):
            if meant[2] == -1:
                told[2] = -1
        assert latest == wanted["latest"], wanted["name"]
        found[wanted["name"]] = one
    return found


@pytest.mark.parametrize("seed", range(1, 3))
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
