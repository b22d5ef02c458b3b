"""What a report of very many ranks keeps of each: its tables, read again as a snapshot.

Addresses, groups, stacks and arguments of each of a hundred thousand ranks take gigabytes. The diagnosis is there
whole, and so is what the page shows.
"""

from __future__ import annotations

import json
from typing import Any, Dict, List, Mapping, Optional, Tuple

_QUEUES = ("pending_sends", "pending_receives", "unexpected_messages")

#: More of them no report has, and longer texts of all neither: a text stands once in the tables and in each rank here.
_MOST_RANKS, _MOST_ROWS, _MOST_TEXT = 1 << 20, 1 << 22, 128 << 20

_NOTE = (
    "read from a report of very many ranks: of each it has what the report shows, without addresses, groups, arguments "
    "and stacks; a further diagnosis needs a recording"
)


def with_processes(told: Dict[str, Any], tables: Mapping[str, Any]) -> str:
    """The JSON of the snapshot, with the processes that the tables of a report have.

    Raises:
        ValueError: where the tables do not fit together.
    """
    try:
        told["processes"] = _processes(tables)
        told["notes"] = [*told.get("notes", []), _NOTE]
        return json.dumps(told)
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"its tables do not fit together: {type(error).__name__}: {error}") from None


def _processes(tables: Mapping[str, Any]) -> List[Dict[str, Any]]:
    strings: List[str] = tables["strings"]
    left = _MOST_TEXT

    def text(place: int) -> Optional[str]:
        nonlocal left
        if place < 0:
            return None
        left -= len(strings[place])
        if left < 0:
            raise ValueError(f"its texts have more than {_MOST_TEXT >> 20} MiB")
        return strings[place]

    ranks = tables["ranks"]
    if len(ranks["rank"]) > _MOST_RANKS or len(tables["messages"]["process"]) > _MOST_ROWS:
        raise ValueError(f"its tables have more than {_MOST_RANKS} ranks or {_MOST_ROWS} messages")
    names = ("rank", "pid", "host", "program", "function", "caller", "line", "problem")
    found: List[Dict[str, Any]] = []
    for rank, pid, host, program, function, caller, line, problem in zip(*(ranks[name] for name in names)):
        file, number = _place(text(line))
        place = {"thread": 1, "file": file, "line": number, "caller": text(caller)}
        found.append(
            {
                "rank": rank,
                "pid": pid,
                "host": text(host),
                "executable": text(program),
                "calls": [{**place, "function": text(function)}] if function >= 0 else [],
                "outside": [place] if function < 0 and (line >= 0 or caller >= 0) else [],
                "communicators": [],
                "problems": [text(problem)] if problem >= 0 else [],
            }
        )
    _add_operations(found, tables, text)
    return found


def _add_operations(found: List[Dict[str, Any]], tables: Mapping[str, Any], text: Any) -> None:
    """The communicators in which ranks have something, and what it is."""
    messages, columns, cells = tables["messages"], tables["columns"], tables["cells"]
    communicators: Dict[Tuple[int, int], Dict[str, Any]] = {}

    def communicator(process: int, column: int) -> Dict[str, Any]:
        known = communicators.get((process, column))
        if known is None:
            known = {"name": columns[column]["name"], "unique_id": column}
            known.update({queue: {"state": "ok", "detail": None, "operations": []} for queue in _QUEUES})
            communicators[process, column] = known
            found[process]["communicators"].append(known)
        return known

    if len(cells["process"]) > _MOST_ROWS:
        raise ValueError(f"its tables have more than {_MOST_ROWS} cells")
    for process, column in zip(cells["process"], cells["column"]):
        communicator(process, column)
    names = ("process", "column", "queue", "peer", "global", "any", "tag", "wild", "bytes", "count", "datatype", "call")
    rows = zip(*(messages[name] for name in (*names, "status", "internal")))
    for process, column, queue, peer, world, any_source, tag, wild, length, count, datatype, call, status, own in rows:
        operation = {
            "status": text(status),
            "desired_local_rank": peer,
            "desired_global_rank": world,
            "any_source": bool(any_source),
            "tag_wild": bool(wild),
            "desired_tag": tag,
            "desired_length": length,
            "count": count,
            "datatype": text(datatype),
            "call": text(call),
            "internal": bool(own),
        }
        communicator(process, column)[_QUEUES[queue]]["operations"].append(operation)


def _place(line: Optional[str]) -> Tuple[Optional[str], Optional[int]]:
    """File and line of ``halo.c:42``."""
    if line is None:
        return None, None
    file, _, number = line.rpartition(":")
    return (file, int(number)) if file and number.isdecimal() else (line, None)
