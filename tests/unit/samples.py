"""Snapshots for tests, written as the JSON that they are."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional

from mpi_queues import Snapshot


def operation(**fields: Any) -> Dict[str, Any]:
    return {"status": "pending", "desired_local_rank": 1, "desired_global_rank": 1, "desired_tag": 7, **fields}


def queue(operations: Optional[List[Dict[str, Any]]] = None, state: str = "ok", detail: Optional[str] = None) -> Any:
    return {"state": state, "detail": detail, "operations": operations or []}


def communicator(name: str = "MPI_COMM_WORLD", **fields: Any) -> Dict[str, Any]:
    return {
        "name": name,
        "unique_id": 0,
        "local_rank": 0,
        "size": 2,
        "group": [0, 1],
        "pending_sends": queue(),
        "pending_receives": queue(),
        "unexpected_messages": queue(),
        **fields,
    }


def process(*communicators: Dict[str, Any], **fields: Any) -> Dict[str, Any]:
    return {
        "rank": 0,
        "world_size": 2,
        "pid": 4242,
        "host": "node1",
        "executable": "/home/user/solver",
        "mpi": {"implementation": "Open MPI", "version": "4.1.4", "library": "/usr/lib/libmpi.so", "transport": "ob1"},
        "source": {"kind": "builtin", "plugin": None, "layouts": "profile:openmpi-4.1", "via": "gdb"},
        "calls": [],
        "communicators": list(communicators),
        "problems": [],
        **fields,
    }


def snapshot(*processes: Dict[str, Any], problems: Optional[List[str]] = None) -> Snapshot:
    content = {"schema": "mpi-queues/1", "captured_at": "2026-11-20T15:00:00Z", "processes": list(processes)}
    return Snapshot.from_json(json.dumps({**content, "problems": problems or []}))
