"""Nested facts as text."""

from __future__ import annotations

from typing import Any, Mapping

from mpi_queues.report.facts import write_facts


def shown(facts: Mapping[str, Any]) -> str:
    pieces: list[str] = []
    write_facts("inferior 1", facts, pieces.append)
    return "".join(pieces)


def test_nested_facts() -> None:
    assert shown(
        {
            "mpi": {"version": "4.1.4", "build_id": None},
            "trusted": True,
            "problem": None,
            "checked": ["a", "b"],
            "set aside": ["a sentence", "and another"],
            "candidates": [{"path": "/x.so", "how": "named"}],
            "empty": [],
        }
    ).splitlines() == [
        "inferior 1",
        "  mpi:",
        "    version: 4.1.4",
        "    build id: not known",
        "  trusted: yes",
        "  checked: a, b",
        "  set aside:",
        "    - a sentence",
        "    - and another",
        "  candidates:",
        "    - path: /x.so; how: named",
        "  empty: none",
    ]


def test_wide_and_deep_facts_stay_readable() -> None:
    deep: Any = "x" * 300
    for _ in range(50):
        deep = {"deeper": deep}
    text = shown({"deep": deep, "names": [f"type_{number}" for number in range(100)], "bad": "a\x1b[2J"})
    assert max(map(len, text.splitlines())) <= 100
    assert "\x1b" not in text
