"""Snapshots of jobs that never ran, for reports: written as the JSON that they are."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Sequence

from mpi_queues import Snapshot

Json = Dict[str, Any]


def call(function: str, *, line: int = 40, file: str = "/src/halo.c", caller: str = "exchange", **fields: Any) -> Json:
    return {"thread": 1, "function": function, "file": file, "line": line, "caller": caller, **fields}


def argument(name: str, value: int) -> Json:
    return {"name": name, "value": value}


def queue(*operations: Json) -> Json:
    return {"state": "ok", "detail": None, "operations": list(operations)}


def operation(peer: Optional[int], tag: Optional[int], **fields: Any) -> Json:
    return {
        "status": "pending",
        "desired_local_rank": peer,
        "desired_global_rank": peer,
        "any_source": peer is None,
        "tag_wild": tag is None,
        "desired_tag": tag,
        "desired_length": 4096,
        "count": 512,
        "datatype": "MPI_DOUBLE",
        **fields,
    }


def communicator(rank: int, size: int, name: str = "MPI_COMM_WORLD", number: int = 0, **queues: Any) -> Json:
    return {
        "name": name,
        "unique_id": number,
        "context_id": str(number),
        "local_rank": rank,
        "size": size,
        "group": list(range(size)),
        "pending_sends": queue(),
        "pending_receives": queue(),
        "unexpected_messages": queue(),
        **queues,
    }


def process(rank: int, size: int, *communicators: Json, calls: Sequence[Json] = (), **fields: Any) -> Json:
    stacks = [
        {
            "thread": 1,
            "frames": [*reversed([_frame("main", 9), *(_frame(one["caller"], one["line"]) for one in calls)])],
        }
    ]
    return {
        "rank": rank,
        "world_size": size,
        "pid": 4000 + rank,
        "host": f"node{rank // 64}",
        "executable": "/home/user/solver",
        "stage": "initialized",
        "all_threads": True,
        "mpi": {"implementation": "Open MPI", "version": "4.1.4", "library": "/usr/lib/libmpi.so", "transport": "ob1"},
        "source": {"kind": "builtin", "plugin": None, "layouts": "profile:openmpi-4.1", "via": "recording"},
        "calls": list(calls),
        "stacks": stacks,
        "communicators": list(communicators) or [communicator(rank, size)],
        **fields,
    }


def _frame(function: str, line: int) -> Json:
    return {"function": function, "file": "/src/halo.c", "line": line}


def snapshot(processes: Sequence[Json]) -> Snapshot:
    content = {"schema": "mpi-queues/1", "captured_at": "2026-11-20T15:00:00Z", "processes": list(processes)}
    return Snapshot.from_json(json.dumps(content))


def ring(size: int) -> Snapshot:
    """Each rank receives from the next one."""
    found: List[Json] = []
    for rank in range(size):
        peer = (rank + 1) % size
        receive = call("MPI_Recv", arguments=[argument("source", peer), argument("tag", 5)], communicator=0)
        own = communicator(rank, size, pending_receives=queue(operation(peer, 5, call="MPI_Recv")))
        found.append(process(rank, size, own, calls=[receive]))
    return snapshot(found)


def missing_in_barrier(size: int, missing: int = 3) -> Snapshot:
    """All stand in MPI_Barrier but one, which receives what nobody sends."""
    found: List[Json] = []
    for rank in range(size):
        if rank == missing:
            receive = call(
                "MPI_Recv",
                line=88,
                caller="collect",
                arguments=[argument("source", 0), argument("tag", 1)],
                communicator=0,
            )
            own = communicator(rank, size, pending_receives=queue(operation(0, 1, call="MPI_Recv")))
            found.append(process(rank, size, own, calls=[receive]))
        else:
            found.append(process(rank, size, calls=[call("MPI_Barrier", line=51, caller="step", communicator=0)]))
    return snapshot(found)


def wrong_tag() -> Snapshot:
    """Rank 1 has sent tag 18, rank 0 waits for tag 17."""
    receive = call("MPI_Recv", arguments=[argument("source", 1), argument("tag", 17)], communicator=0)
    first = communicator(
        0,
        2,
        "halo",
        pending_receives=queue(operation(1, 17, call="MPI_Recv")),
        unexpected_messages=queue(
            operation(1, 18, actual_local_rank=1, actual_global_rank=1, actual_tag=18, actual_length=64)
        ),
    )
    other = call("MPI_Barrier", line=60, communicator=0)
    return snapshot([process(0, 2, first, calls=[receive]), process(1, 2, communicator(1, 2, "halo"), calls=[other])])


def busy(size: int) -> Snapshot:
    """Nobody waits: all compute."""
    outside = {
        "thread": 1,
        "function": "work",
        "caller": "work",
        "file": "/src/work.c",
        "line": 7,
        "main": True,
        "complete": True,
    }
    return snapshot([process(rank, size, outside=[outside]) for rank in range(size)])


def named(name: str) -> Snapshot:
    """A wrong tag where everything that strangers name has this name."""
    content = json.loads(wrong_tag().to_json())
    for one in content["processes"]:
        one["executable"] = f"/home/user/{name}"
        one["host"] = name
        one["problems"] = [name]
        for own in one["communicators"]:
            own["name"] = name
            for kind in ("pending_receives", "unexpected_messages"):
                for entry in own[kind]["operations"]:
                    entry["datatype"] = name
        for standing in one["calls"]:
            standing["file"], standing["caller"] = f"/src/{name}.c", name
        for stack in one["stacks"]:
            for frame in stack["frames"]:
                frame["function"], frame["file"] = name, name
    content["notes"] = [name]
    content["problems"] = [name]
    return Snapshot.from_json(json.dumps(content))


#: What names may hold to get out of where they stand.
PIECES = (
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</title><img src=x onerror=alert(1)>",
    "</style><svg onload=alert(1)>",
    "--><script>alert(1)</script><!--",
    "<!--<script>",
    "]]><x/>",
    "&lt;b&gt;&amp;",
    '" onmouseover="alert(1)',
    "' onfocus='alert(1)' autofocus='",
    "javascript:alert(1)",
    "`${alert(1)}`",
    '\\" ]; x [label=\\"',
    "a\\nb\\l\\r\\",
    "<b>bold</b>",
    "{a|b}<f0>",
    "\u202egnp.exe",
    "\u200b\u2066zero\u2069",
    "\u2028\u2029",
    "\x00\x07\x1b[31mred\x1b[0m",
    "\ufffe\uffff",
    "\r\n\tlines\n",
    "<!-- slot: script -->",
    "<!DOCTYPE html><!-- mpi-queues report 1 -->",
    '<script type="application/json" id="snapshot" data-form="json">{}</script>',
    "url(#arrow) expression(alert(1))",
    "</svg></g></text>",
    "&#x3c;script&#x3e;",
    "%3Cscript%3E",
    "é漢字🎉" * 3,
    "x" * 3000,
    "",
)


def hostile_names(count: int) -> List[str]:
    """As many names: the pieces, and pairs of them."""
    pairs = (one + other for one in PIECES for other in PIECES)
    return list(dict.fromkeys([*PIECES, *pairs]))[:count]
