"""What is asked of a debugger's process, on its way through JSON."""

from __future__ import annotations

import json
from typing import Any, Callable, Dict

import pytest
from mpi_queues.errors import UserError
from mpi_queues.request import Core, Live, Question, Request

FULL = Request(
    "handles",
    "plugin",
    "/opt/\udcff.so",
    False,
    (("comm", None), ("win", "0x7")),
    2.5,
    "lldb",
    True,
    "/mine.json",
    "/tmp",
)


@pytest.mark.parametrize(
    "question",
    [
        Question(Request(), 1.5, live=Live(7)),
        Question(FULL, 0.0, core=Core("/core", "/program")),
        Question(FULL, 2.0, together=(Live(7, 0), Live(8))),
        Question(FULL, 2.0, together=()),
    ],
)
def test_what_is_written_is_read(question: Question) -> None:
    assert Question.from_json(question.to_json()) == question


def changed(change: Callable[[Dict[str, Any]], None]) -> bytes:
    content = json.loads(Question(FULL, 2.0, together=(Live(7, 0),)).to_json())
    change(content)
    return json.dumps(content).encode()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda all_: all_.update(live={"pid": 1, "identity": None}), "the request: it is about no process, or about"),
        (lambda all_: all_.update(together=None), "the request: it is about no process, or about"),
        (lambda all_: all_.update(more=1), "the request: it has no 'more'"),
        (lambda all_: all_.pop("until"), "the request: its 'until' is missing"),
        (lambda all_: all_.update(until=True), "the request: until: true is none"),
        (lambda all_: all_.update(until=float("nan")), "the request: until: NaN is none"),
        (lambda all_: all_["request"].update(action="end"), 'the request: request: action: "end" is none'),
        (lambda all_: all_["request"].update(queues=1), "the request: request: queues: 1 is none"),
        (lambda all_: all_["request"].update(wanted=[["comm"]]), 'the request: request: wanted[0]: ["comm"] is none'),
        (lambda all_: all_["request"].update(plugin=["x" * 500]), "the request: request: plugin: "),
        (lambda all_: all_["together"][0].update(pid="7"), 'the request: together[0]: pid: "7" is none'),
        (lambda all_: all_.update(request=[]), "the request: request: [] is none"),
    ],
)
def test_what_is_none_of_ours_is_refused(change: Callable[[Dict[str, Any]], None], said: str) -> None:
    with pytest.raises(UserError) as caught:
        Question.from_json(changed(change))
    message = str(caught.value)
    assert (caught.value.kind, message.startswith(said), len(message) < 200) == ("request", True, True), message


@pytest.mark.parametrize("content", [b"", b"{", b"[" * 100000, b"null", b"\xff"])
def test_what_is_no_object_is_refused(content: bytes) -> None:
    with pytest.raises(UserError, match="the request"):
        Question.from_json(content)
