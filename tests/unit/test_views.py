"""What Python shows of the model is made from its schema."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
from pathlib import Path
from types import ModuleType

import mpi_queues
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("make_views", str(ROOT / "tools" / "make-views"))
    spec = importlib.util.spec_from_loader("make_views", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_the_files_are_what_the_tool_makes(tool: ModuleType) -> None:
    for path, text in tool.made().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is not made from docs/schema.json: make schema"


def test_each_member_is_shown(tool: ModuleType) -> None:
    snapshot = mpi_queues.load(ROOT / "python" / "mpi_queues" / "data" / "demo.mpirec")
    diagnosis = snapshot.diagnose()
    process = snapshot.rank(1)
    communicator = process.communicator("halo")
    queue = communicator.pending_receives
    tree = snapshot.stacks()
    views = (snapshot, diagnosis, diagnosis[0], process, communicator, queue, queue[0], tree, tree[0])
    shown = {type(one).__name__: one for one in views}
    assert set(shown) == set(tool.CLASSES)
    members = tool.members(json.loads(tool.SCHEMA.read_text(encoding="utf-8")))
    for name, properties in members.items():
        for member, _, _ in properties:
            getattr(shown[name], member)
    assert communicator.traffic and communicator.next_sequence is not None
    assert {"local_rank", "sent", "arrived", "modulus"} <= set(communicator.traffic[0])


def test_types_and_documentation_by_example(tool: ModuleType) -> None:
    definitions = {
        "Word": {"enum": ["one", "two"]},
        "Piece": {"properties": {"at": {}, "length": {}}},
    }
    schema = {
        "description": "Pieces of `Whole::part`;\nnull: none.",
        "type": "array",
        "items": {"$ref": "#/$defs/Piece"},
    }
    assert tool.type_of(schema, definitions) == "List[Dict[str, Any]]"
    expected = "Pieces of ``Whole.part``; None: none. Members: ``at``, ``length``."
    assert tool.documentation(schema, definitions) == expected
    schema = {"description": "Which.", "anyOf": [{"$ref": "#/$defs/Word"}, {"type": "null"}]}
    assert tool.type_of(schema, definitions) == "Optional[str]"
    assert tool.documentation(schema, definitions) == "Which. Words: ``one``, ``two``."
    assert tool.type_of({"type": ["array", "null"], "items": {"type": ["integer", "null"]}}, {}) == (
        "Optional[List[Optional[int]]]"
    )
