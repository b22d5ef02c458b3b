"""Nodes that fail cost their own ranks, and nothing else: by made-up agents."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List, Sequence, Tuple

import pytest
from mpi_queues import UserError
from mpi_queues._native import AGENT_PROTOCOL, Snapshot
from mpi_queues.nodes import gathering, missing, reading
from mpi_queues.nodes.agents import Look
from mpi_queues.nodes.engines import Engine
from mpi_queues.nodes.gathering import Gathering
from mpi_queues.request import Request
from support import processes
from support.paths import PROGRAMS

MADE_UP = PROGRAMS / "made_up_nodes.py"

#: Seconds for which those that do not answer are waited for; in which all others do.
HASTE = 3.0


@dataclass
class MadeUp(Engine):
    """Runs the made-up agents."""

    names: Sequence[str]
    started: List[List[str]] = field(default_factory=list)

    name = "made-up"
    called = "made-up"
    same = ()
    other = ()
    knows_all_nodes = True

    @property
    def job_variables(self) -> Dict[str, str]:
        return {"JOB": "1"}

    def nodes(self) -> List[str]:
        return list(self.names)

    def command(self, nodes: Sequence[str], agent: Sequence[str]) -> List[str]:
        self.started.append(list(nodes))
        return [sys.executable, str(MADE_UP), str(AGENT_PROTOCOL), *nodes]


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits long for made-up nodes; those that do answer have time for it on a busy machine."""
    monkeypatch.setattr(gathering, "START", HASTE)


def asked(engine: MadeUp, timeout: float = 60.0) -> Tuple[List[Look], Dict[str, str]]:
    with Gathering(engine, "agent") as agents:
        agents.ask(timeout=timeout)
        return agents.gather(lambda *_: None)


def ranks(looks: Sequence[Look]) -> List[int]:
    processes = [one for look in looks for part in look.parts for one in part.processes]
    return sorted(one.rank for one in processes if one.rank is not None)


def test_all_nodes_answer_as_often_as_they_are_asked() -> None:
    told: List[Tuple[int, int]] = []
    with Gathering(MadeUp(["good0", "good1", "good2"]), "agent") as agents:
        for _ in range(3):
            agents.ask(timeout=20)
            looks, silent = agents.gather(lambda done, total, *_: told.append((done, total)))
            assert (ranks(looks), silent) == (list(range(6)), {})
    assert told[-1] == (3, 3) and all(total == 3 for _, total in told)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("silent", "no agent has started there"),
        ("slow", "its agent did not answer in time"),
        ("old", r"its agent has version 0\.0\.9, which does not fit"),
        ("garbage", "the answer of its agent cannot be understood"),
        ("damaged", "the answer of its agent cannot be understood"),
        ("nonsense", "the answer of its agent cannot be understood"),
        ("stranger", "an answer that was not asked for"),
        ("refused", r"Permission denied \(publickey\)"),
        ("bomb", "its parts are named so often that it is more than 1024 MiB"),
    ],
)
def test_a_node_that_fails_costs_its_own_ranks(kind: str, said: str) -> None:
    looks, silent = asked(
        MadeUp(["good0", f"{kind}1", "good2"]), HASTE if kind in ("silent", "slow", "refused") else 60.0
    )
    assert ranks(looks) == [0, 1, 4, 5]
    assert list(silent) == [f"{kind}1"]
    with pytest.raises(UserError, match=said):
        raise UserError(silent[f"{kind}1"])
    assert all(character.isprintable() for character in silent[f"{kind}1"])


@pytest.mark.parametrize("kind", ["dies", "unreachable"])
@pytest.mark.usual("unreachable")
def test_an_engine_that_ends_for_all_is_started_again_without_the_one_that_failed(kind: str) -> None:
    engine = MadeUp(["good0", f"{kind}1", "good2"])
    looks, silent = asked(engine)
    # By their number in the new process of the engine.
    assert {look.node for look in looks} == {"good0", "good2"} or kind == "dies"
    assert f"{kind}1" in silent
    assert engine.started[0] == ["good0", f"{kind}1", "good2"] and len(engine.started) > 1


@pytest.mark.slow
def test_one_in_a_hundred_of_a_thousand_nodes_is_silent() -> None:
    names = [f"silent{number}" if number % 100 == 7 else f"good{number}" for number in range(1000)]
    looks, silent = asked(MadeUp(names), timeout=2 * HASTE)
    assert len(looks) == 990 and len(ranks(looks)) == 1980
    assert sorted(silent) == sorted(name for name in names if name.startswith("silent"))


def test_what_a_node_says_is_text() -> None:
    looks, silent = asked(MadeUp(["good0", "escape1"]))
    assert not silent
    text = "".join(look.snapshot.to_json() for look in looks)
    assert "gone" in text and all(character.isprintable() for character in text)


@pytest.mark.slow
def test_missing_ranks_are_processes_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "engine_of", lambda job: MadeUp(["good0", "silent1"]))
    monkeypatch.setattr(reading.agent, "path", lambda: Path("agent"))
    try:
        looks, missing, failures = reading.read("made-up", Request(timeout=HASTE), lambda *_: None)
        assert ranks(looks) == [0, 1]
        assert [(one.rank, one.problems) for snapshot in missing for one in snapshot.processes] == [
            (rank, ["not read: node silent1: no agent has started there"]) for rank in (2, 3)
        ]
        assert [str(failure.args[0]) for failure in failures] == ["node silent1: no agent has started there"]
        for wrong in (Request(action="layouts"), Request(source="plugin")):
            with pytest.raises(UserError, match="made-up: "):
                reading.read("made-up", wrong, lambda *_: None)
    finally:
        reading.close_all()


def test_a_rank_that_no_node_has_has_ended() -> None:
    content = {"schema": "mpi-queues/1", "processes": [{"rank": 0, "world_size": 2, "pid": 7, "problems": []}]}
    told = [Snapshot.from_json(json.dumps(content))]
    for silent, all_seen, stage in (({}, True, "ended"), ({}, False, None), ({"n2": "it is down"}, True, None)):
        (lost,) = missing.unread(told, silent, all_seen=all_seen).processes
        assert (lost.rank, lost.stage) == (1, stage), lost.problems
        assert ("has ended" in lost.problems[0]) == (stage == "ended")


@pytest.mark.slow
def test_what_was_not_asked_again_stays_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "engine_of", lambda job: MadeUp(["good0", "once1", "good2"]))
    monkeypatch.setattr(reading.agent, "path", lambda: Path("agent"))
    request = Request(timeout=HASTE)
    try:
        reading.read("made-up", request, lambda *_: None)
        assert [len(pids) for _, pids in reading.looked_at(["made-up"])] == [2, 2, 2]
        reading.begin("made-up", request, 0.1, [0, 3])
        looks, _, failures = reading.read("made-up", request, lambda *_: None)
        # The third of them tells of its ranks once.
        assert ranks(looks) == list(range(6))
        assert [str(failure.args[0]) for failure in failures] == ["node once1: its agent did not answer in time"]
        assert reading.looked_at(["made-up"]) == [("good0", [1000])]
    finally:
        reading.close_all()


def test_nothing_is_left_running() -> None:
    agents = Gathering(MadeUp(["good0", "slow1"]), "agent")
    agents.ask(timeout=0.1)
    pids = [part._process.pid for part in agents._parts]
    agents.close()
    assert all(processes.state(pid) is None for pid in pids)


def test_only_a_recording_where_it_was_asked_for_is_fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What a node says of its file would become a word of the command that fetches it."""
    names = [f"records{number}" for number in range(7)]
    monkeypatch.setattr(reading, "engine_of", lambda job: MadeUp(names))
    monkeypatch.setattr(reading.agent, "path", lambda: Path("agent"))
    try:
        files, _, failures = reading.record("made-up", str(tmp_path), 20.0, lambda *_: None)
        assert [(file.node, file.path) for file in files] == [("records0", f"{tmp_path}/records0.mpirec")]
        said = [str(failure.args[0]) for failure in failures]
        assert len(said) == 6 and all(f"is not a recording in {tmp_path}" in text for text in said), said
        assert said[0].startswith("node records1: it says that its recording is ") and failures[0].help
    finally:
        reading.close_all()
