"""What could not be read, in a few lines: damage everywhere is told once a kind, with a count."""

from __future__ import annotations

import argparse
import json
from typing import Any, Dict, List

import pytest
from mpi_queues import Snapshot, UserError
from mpi_queues.cli import answers
from mpi_queues.report import problems, text


def _snapshot(*processes: Dict[str, Any]) -> Snapshot:
    content = {"schema": "mpi-queues/1", "captured_at": None}
    ranked = [{"rank": rank, "world_size": 9, **process} for rank, process in enumerate(processes)]
    return Snapshot.from_json(json.dumps({**content, "processes": ranked}))


def _communicators(count: int, detail: str) -> List[Dict[str, Any]]:
    queue = {"state": "error", "detail": detail, "operations": []}
    queues = {"pending_sends": queue, "pending_receives": queue, "unexpected_messages": queue}
    return [{"name": f"comm {number}", **queues} for number in range(count)]


def test_what_is_wrong_with_many_communicators_alike_is_one_line() -> None:
    found = problems.of_snapshot(_snapshot({"communicators": _communicators(1, "torn")}))
    assert found == ["rank 0, comm 0: torn"]
    found = problems.of_snapshot(_snapshot({"communicators": _communicators(30_000, "torn")}))
    assert found == ["rank 0, comm 0 and 29,999 more communicators: torn"]


def test_what_is_wrong_with_many_ranks_alike_is_one_line() -> None:
    found = problems.of_snapshot(_snapshot(*[{"problems": ["torn"]}] * 6))
    assert found == ["rank 0, rank 1, rank 2, rank 3 and 2 more: torn"]


def test_damage_everywhere_is_fifty_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """A damaged process with as many communicators as a reader takes had 10 MB of problems."""
    process = {
        "communicators": [one for at in range(100) for one in _communicators(30, f"torn at {at:#x}")],
        "problems": [f"the object at {at:#x} is no communicator" for at in range(100)],
    }
    snapshot = Snapshot.merged([_snapshot(process, process)])
    options = argparse.Namespace(format="json")
    assert answers.finish(snapshot, [UserError("a failure")], options) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 50 and lines[0] == "mpi-queues: a failure"
    assert lines[-1] == "mpi-queues: there are 252 more problems, which the JSON has (--format json)"
    written: List[str] = []
    text.write_problems(snapshot, written.append, text.Options())
    assert len(written) == 50 and "there are 151 more problems" in written[-1]


def test_the_json_has_a_thousand_problems() -> None:
    snapshot = Snapshot.merged([_snapshot({"problems": [str(number) for number in range(5000)]})], ["one of all"])
    told = json.loads(snapshot.to_json())
    assert len(told["processes"][0]["problems"]) == 1000 and told["problems"] == ["one of all"]
    assert told["processes"][0]["problems"][-1] == "there are 4001 more problems, which are not listed"
