"""The JSON that commands print is that of docs/schema.json, which is made from the types of crates/model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Iterator

import jsonschema
import mpi_queues
import pytest

ROOT = Path(__file__).resolve().parents[2]
RECORDINGS = sorted([*ROOT.glob("python/mpi_queues/data/*.mpirec"), *ROOT.glob("tests/recordings/**/*.mpirec")])


@pytest.fixture(scope="module")
def validator() -> Any:
    schema = json.loads((ROOT / "docs" / "schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_what_recordings_hold(validator: Any, path: Path) -> None:
    snapshot = mpi_queues.load(path)
    assert snapshot.processes
    validator.validate(json.loads(snapshot.to_json()))
    validator.validate(json.loads(snapshot.diagnose().to_json()))


def test_nothing_that_was_read(validator: Any) -> None:
    validator.validate(json.loads(mpi_queues.Snapshot.merged([]).diagnose().to_json()))


def broken(content: Any) -> Iterator[Any]:
    """The same JSON with one thing that no version writes."""
    yield {**content, "processes": {}}
    yield {name: value for name, value in content.items() if name != "schema"}
    for name, value in (("rank", "0"), ("communicators", None), ("calls", [{"thread": "one"}])):
        processes = [{**process, name: value} for process in content["processes"]]
        yield {**content, "processes": processes}
    yield {**content, "verdict": {**content["verdict"], "state": "stuck"}}
    yield {**content, "diagnosis": [{**finding, "kind": "dead lock"} for finding in content["diagnosis"]]}


def test_what_is_wrong_does_not_pass(validator: Any) -> None:
    content = json.loads(mpi_queues.load(RECORDINGS[0]).diagnose().to_json())
    validator.validate(content)
    for wrong in broken(content):
        assert not validator.is_valid(wrong)
