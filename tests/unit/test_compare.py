"""The comparison of a snapshot with what was posted notices every change of a fact."""

from __future__ import annotations

import copy
from typing import Any, Dict, List, Sequence, Tuple

import pytest
from support.compare import Deviation, Difference, assert_equal, compare, unexplained
from support.known import Known

Json = Dict[str, Any]


def _send(number: int, **changes: Any) -> Json:
    posted = {
        "comm": "0x10",
        "peer": 1,
        "world": 3,
        "tag": number,
        "bytes": 40,
        "count": 10,
        "datatype": "MPI_INT",
        "mode": "standard",
        "call": "MPI_Isend",
        "persistent": False,
        "cancelled": False,
        "traceless": False,
        "probe": False,
        "buffer": "0x7000",
        "status": "pending",
        "request": f"0x{0x7F0000002000 + number:x}",
        "order": number,
        "actual": None,
    }
    posted.update(changes)
    return posted


def _shown(op: Json, **changes: Any) -> Json:
    """The operation as a reader that makes no mistake shows it."""
    operation = {
        "status": op["status"],
        "desired_local_rank": op["peer"],
        "desired_global_rank": op["world"],
        "any_source": op["peer"] is None,
        "tag_wild": op["tag"] is None,
        "desired_tag": op["tag"],
        "desired_length": op["bytes"],
        "system_buffer": op.get("mode") == "buffered",
        "buffer": op.get("buffer"),
        "actual_local_rank": None,
        "actual_global_rank": None,
        "actual_tag": None,
        "actual_length": None,
        "internal": False,
        "persistent": op.get("persistent", False),
        "call": None,
        "datatype": op.get("datatype"),
        "count": op.get("count"),
        "request": op.get("request"),
        "extra_text": [],
    }
    operation.update(changes)
    return operation


def _message(tag: int, length: int) -> Json:
    return {"comm": "0x10", "peer": 1, "world": 3, "tag": tag, "bytes": length}


def _shown_message(message: Json) -> Json:
    actual = {
        "actual_local_rank": message["peer"],
        "actual_global_rank": message["world"],
        "actual_tag": message["tag"],
        "actual_length": message["bytes"],
    }
    return _shown({**message, "status": "pending"}, **actual)


def _world() -> Tuple[Json, Json]:
    sends = [_send(1), _send(2), _send(3, mode="buffered"), _send(9, traceless=True, request=None)]
    receives = [
        _send(11, call="MPI_Irecv"),
        _send(12, call="MPI_Recv", peer=None, world=None, request=None, buffer=None),
        _send(13, call="MPI_Irecv", tag=None, request="0x7f0000002100"),
    ]
    done = {"peer": 1, "world": 3, "tag": 14, "bytes": 8}
    receives.append(_send(14, call="MPI_Irecv", status="complete", actual=done))
    messages = [_message(21, 5), _message(22, 6), _message(21, 7), _message(21, 5)]
    shown_receives = [_shown(op) for op in receives]
    shown_receives[3].update(actual_local_rank=1, actual_global_rank=3, actual_tag=14, actual_length=8)
    queues = {
        "pending_sends": [_shown(op) for op in sends if not op["traceless"]],
        "pending_receives": shown_receives,
        "unexpected_messages": [_shown_message(message) for message in messages],
    }
    comm = {"handle": "0x10", "local_rank": 0, "size": 2, "group": [2, 3], "remote_group": None}
    truth = {
        "rank": 2,
        "world_size": 4,
        "pid": 77,
        "communicators": [{**comm, "name": "halo"}],
        "sends": sends,
        "receives": receives,
        "unexpected": messages,
    }
    shown_queues = {name: {"state": "ok", "detail": None, "operations": ops} for name, ops in queues.items()}
    process = {
        "rank": 2,
        "world_size": 4,
        "pid": 77,
        "communicators": [{**comm, "name": "halo", "name_set": True, **shown_queues}],
        "problems": [],
    }
    return truth, process


def _kinds(truth: Json, process: Json) -> List[str]:
    return [difference.kind for difference in compare(truth, process)]


QUEUES = ("pending_sends", "pending_receives", "unexpected_messages")


def test_equal_worlds_have_no_difference() -> None:
    truth, process = _world()
    assert_equal(truth, process)


@pytest.mark.parametrize("queue", QUEUES)
def test_every_lost_and_every_invented_operation_is_noticed(queue: str) -> None:
    truth, process = _world()
    for index, op in enumerate(process["communicators"][0][queue]["operations"]):
        changed = copy.deepcopy(process)
        del changed["communicators"][0][queue]["operations"][index]
        assert "missing" in _kinds(truth, changed), op
        changed = copy.deepcopy(process)
        changed["communicators"][0][queue]["operations"].append(copy.deepcopy(op))
        assert "extra" in _kinds(truth, changed), op


def test_every_changed_field_is_noticed() -> None:
    truth, process = _world()
    # The reader alone knows these: no program says them.
    free = {"call", "extra_text"}
    unknown = {
        "unexpected_messages": {"request", "datatype", "count", "persistent", "buffer", "system_buffer"},
        "pending_sends": {"actual_local_rank", "actual_global_rank", "actual_tag", "actual_length"},
    }
    for queue in QUEUES:
        for index, op in enumerate(process["communicators"][0][queue]["operations"]):
            for name, value in op.items():
                if name in free | unknown.get(queue, set()):
                    continue
                if value is None and name in ("request", "buffer"):
                    continue  # a blocking call
                if op["system_buffer"] and name == "buffer":
                    continue  # the library's own copy
                changed = copy.deepcopy(process)
                other = (not value) if isinstance(value, bool) else 12345 if value != 12345 else 1
                changed["communicators"][0][queue]["operations"][index][name] = other
                assert compare(truth, changed), (queue, index, name)


@pytest.mark.parametrize("name", ["name", "local_rank", "size", "group", "remote_group", "name_set", "handle"])
def test_every_field_of_a_communicator_is_compared(name: str) -> None:
    truth, process = _world()
    process["communicators"][0][name] = ["other"]
    process["communicators"][0]["handle"] = "0x10" if name != "handle" else "0x11"
    assert compare(truth, process)


@pytest.mark.parametrize("queue", QUEUES)
def test_the_order_of_matching_is_compared(queue: str) -> None:
    truth, process = _world()
    operations = process["communicators"][0][queue]["operations"]
    operations[0], operations[1] = operations[1], operations[0]
    assert _kinds(truth, process) == ["order"]


@pytest.mark.parametrize("state", ["no_information", "error"])
def test_a_queue_that_could_not_be_read_is_not_an_empty_one(state: str) -> None:
    truth, process = _world()
    process["communicators"][0]["pending_sends"].update(state=state, operations=[])
    assert "state" in _kinds(truth, process)


def test_an_unnamed_communicator_may_have_any_generated_name() -> None:
    truth, process = _world()
    truth["communicators"][0]["name"] = None
    process["communicators"][0].update(name="MPI COMMUNICATOR 3 DUP FROM 0", name_set=False)
    assert_equal(truth, process)


def test_problems_fail_even_where_everything_is_right() -> None:
    truth, process = _world()
    process["problems"] = ["one page could not be read"]
    with pytest.raises(AssertionError, match="one page could not be read"):
        assert_equal(truth, process)


def test_a_deviation_explains_only_its_differences() -> None:
    truth, process = _world()
    process["communicators"][0]["pending_sends"]["operations"][0]["desired_tag"] = 99
    process["communicators"][0]["pending_sends"]["operations"][1]["count"] = 99

    def wrong_tag(difference: Difference) -> bool:
        return difference.name == "desired_tag"

    rest, seen = unexplained(compare(truth, process), [Deviation("wrong tag", wrong_tag)])
    assert [difference.name for difference in rest] == ["count"]
    assert seen == {"wrong tag": 1}


def _truth(**lists: Any) -> Json:
    truth, _ = _world()
    return {**truth, "sends": [], "receives": [], "unexpected": [], **lists}


def _process(sends: Sequence[Json] = ()) -> Json:
    _, process = _world()
    for name in ("pending_sends", "pending_receives", "unexpected_messages"):
        process["communicators"][0][name]["operations"] = list(sends) if name == "pending_sends" else []
    return process


def _judged(levels: Dict[str, str], **changes: Any) -> List[str]:
    """The kinds of difference between a send and what is shown of it, where so much can be known."""
    op = _send(1)
    shown = _shown(op, **changes)
    return sorted({one.kind for one in compare(_truth(sends=[op]), _process(sends=[shown]), known=Known(levels))})


@pytest.mark.parametrize(
    ("level", "changes", "differences"),
    [
        ("exact", {}, []),
        ("exact", {"desired_tag": None}, ["null"]),
        ("exact", {"desired_tag": None, "unknown": {"desired_tag": "why"}}, ["null"]),
        ("partial", {}, []),
        ("partial", {"desired_tag": None, "unknown": {"desired_tag": "why"}}, []),
        ("partial", {"desired_tag": None, "unknown": {"desired_tag": ""}}, ["null"]),
        ("partial", {"desired_tag": None, "unknown": {"datatype": "why"}}, ["null"]),
        ("partial", {"desired_tag": 9, "unknown": {"desired_tag": "why"}}, ["field"]),
        ("not available", {}, ["known"]),
        ("not available", {"desired_tag": None, "unknown": {"desired_tag": "why"}}, []),
        ("not available", {"desired_tag": None}, ["null"]),
    ],
)
def test_a_fact_is_null_only_where_the_table_and_a_reason_say_so(
    level: str, changes: Dict[str, Any], differences: List[str]
) -> None:
    assert _judged({"sends.tag": level}, **changes) == differences


def test_a_row_must_be_there_though_its_facts_are_not_known() -> None:
    op = _send(1, request=None, buffer=None)
    nothing = {"desired_tag": "why", "desired_local_rank": "why", "datatype": "why"}
    shown = _shown(
        op,
        desired_tag=None,
        desired_local_rank=None,
        desired_global_rank=None,
        datatype=None,
        count=None,
        unknown=nothing,
    )
    levels = Known({"sends.tag": "not available", "sends.peer": "not available", "sends.datatype": "not available"})
    assert compare(_truth(sends=[op]), _process(sends=[shown]), known=levels) == []
    (missing,) = compare(_truth(sends=[op]), _process(), known=levels)
    assert missing.kind == "missing"
    # Another one's length: not this row.
    other = {**shown, "desired_length": 41}
    kinds = {one.kind for one in compare(_truth(sends=[op]), _process(sends=[other]), known=levels)}
    assert kinds == {"missing", "extra"}


def test_a_queue_that_cannot_be_told_must_say_so() -> None:
    levels = Known({"sends.listed": "not available"})
    process = _process()
    (state,) = compare(_truth(), process, known=levels)
    assert (state.kind, state.what, state.found) == ("state", "pending_sends", "ok")
    queue = process["communicators"][0]["pending_sends"]
    queue.update(state="no_information", detail="why")
    assert compare(_truth(sends=[_send(1)]), process, known=levels) == []
    queue["detail"] = None
    assert [one.kind for one in compare(_truth(), process, known=levels)] == ["state"]


def test_a_queue_that_is_known_only_where_it_is_empty_is_demanded_to_be_both() -> None:
    levels = Known({"sends.listed": "partial"})
    none: Json = _process()
    nothing: Json = _process()
    for comm in nothing["communicators"]:
        comm["pending_sends"] = {"state": "no_information", "detail": "no send names it", "operations": []}
    assert compare(_truth(), none, known=levels) == []
    assert [one.kind for one in compare(_truth(), nothing, known=levels)] == ["state"]
    waits = _truth(sends=[_send(1)])
    assert compare(waits, nothing, known=levels) == []
    assert [one.kind for one in compare(waits, none, known=levels)] == ["state"]
    # One on another communicator may be any's.
    elsewhere = _truth(sends=[_send(1, comm="0x20")])
    assert compare(elsewhere, nothing, known=levels) == []
    gone = _truth(sends=[_send(1, traceless=True)])
    assert compare(gone, none, known=levels) == []


def test_what_is_left_of_a_buffered_send_may_be_there_or_not() -> None:
    op = _send(1, mode="buffered", optional=True)
    own = _shown(op, request="0x7f0000009999", datatype="MPI_PACKED", count=40)
    assert compare(_truth(sends=[op]), _process()) == []
    assert compare(_truth(sends=[op]), _process(sends=[own])) == []
    assert compare(_truth(sends=[op]), _process(sends=[{**own, "desired_tag": 2}])) != []


def test_what_is_complete_is_missed_only_where_it_can_be_known() -> None:
    op = _send(1, status="complete")
    assert compare(_truth(sends=[op]), _process(), known=Known({"sends.complete": "partial"})) == []
    assert [one.kind for one in compare(_truth(sends=[op]), _process())] == ["missing"]
