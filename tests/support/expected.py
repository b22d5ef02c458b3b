"""The JSON fields of operations (``mpi-queues/1``) that follow from what a program says it posted."""

from __future__ import annotations

from typing import Any, Callable, Dict

Json = Dict[str, Any]


def expected_send(op: Json) -> Json:
    """The JSON fields of a send that follow from what was posted."""
    fields = {
        "status": op["status"],
        "desired_local_rank": op["peer"],
        "desired_global_rank": op["world"],
        "any_source": False,
        "tag_wild": False,
        "desired_tag": op["tag"],
        "desired_length": op["bytes"],
        "internal": False,
        "persistent": op["persistent"],
        "datatype": op["datatype"],
        "count": op["count"],
    }
    if op.get("optional"):
        # A copy that the library sends for itself, as bytes, with a request of its own.
        for name in ("datatype", "count", "status", "persistent"):
            del fields[name]
        return fields
    if op["request"] is not None:
        fields["request"] = op["request"]
    if op["status"] == "pending":
        fields["system_buffer"] = op["mode"] == "buffered"
    if op["buffer"] is not None and op["mode"] != "buffered":
        fields["buffer"] = op["buffer"]
    return fields


def expected_receive(op: Json) -> Json:
    """The JSON fields of a receive that follow from what was posted."""
    fields = {
        "status": op["status"],
        "desired_local_rank": op["peer"],
        "desired_global_rank": op["world"],
        "any_source": op["peer"] is None,
        "tag_wild": op["tag"] is None,
        "desired_tag": op["tag"],
        "desired_length": op["bytes"],
        "system_buffer": False,
        "internal": False,
        "persistent": op["persistent"],
        "datatype": op["datatype"],
        "count": op["count"],
    }
    for name in ("request", "buffer"):
        if op[name] is not None:
            fields[name] = op[name]
    actual = op["actual"]
    if op.get("optional"):
        # A message that a matching probe holds: what was asked for is not kept.
        fields = {"status": op["status"], "internal": False}
    if actual is not None:
        fields.update(
            actual_local_rank=actual["peer"],
            actual_global_rank=actual["world"],
            actual_tag=actual["tag"],
            actual_length=actual["bytes"],
        )
    elif not op["cancelled"]:
        fields.update(actual_local_rank=None, actual_global_rank=None, actual_tag=None, actual_length=None)
    return fields


def expected_message(message: Json) -> Json:
    """The JSON fields of an unexpected message that follow from what was sent."""
    return {
        "status": message.get("status", "pending"),
        "any_source": False,
        "tag_wild": False,
        "internal": False,
        "desired_local_rank": message["peer"],
        "desired_global_rank": message["world"],
        "desired_tag": message["tag"],
        "desired_length": message["bytes"],
        "actual_local_rank": message["peer"],
        "actual_global_rank": message["world"],
        "actual_tag": message["tag"],
        "actual_length": message["bytes"],
    }


EXPECTED: dict[str, Callable[[Json], Json]] = {
    "sends": expected_send,
    "receives": expected_receive,
    "unexpected": expected_message,
}
