"""What a report of very many ranks keeps of each: its tables, read again as a snapshot.

Addresses, groups, stacks and arguments of each of a hundred thousand ranks take gigabytes. The diagnosis is there
whole, and so is what the page shows.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, Dict, List, Mapping, Optional, Tuple

_QUEUES = ("pending_sends", "pending_receives", "unexpected_messages")

#: What the tables call how many operations are in each.
_COUNTS = ("sends", "receives", "unexpected")

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


class _Texts:
    """The texts of the tables, as far as they are not too long when each stands wherever it is told."""

    def __init__(self, strings: List[str]) -> None:
        self._strings, self._left = strings, _MOST_TEXT

    def __call__(self, place: int) -> Optional[str]:
        return None if place < 0 else self.told(self._strings[place])

    def told(self, text: str) -> str:
        """One that the tables have elsewhere."""
        self._left -= len(text)
        if self._left < 0:
            raise ValueError(f"its texts have more than {_MOST_TEXT >> 20} MiB")
        return text


def _processes(tables: Mapping[str, Any]) -> List[Dict[str, Any]]:
    text = _Texts(tables["strings"])
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


def _add_operations(found: List[Dict[str, Any]], tables: Mapping[str, Any], text: _Texts) -> None:
    """The communicators in which ranks have something, and what it is."""
    messages, columns, cells = tables["messages"], tables["columns"], tables["cells"]
    communicators: Dict[Tuple[int, int], Dict[str, Any]] = {}
    sizes = [one["least"] if one["least"] == one["most"] else None for one in columns]
    if len(cells["process"]) > _MOST_ROWS:
        raise ValueError(f"its tables have more than {_MOST_ROWS} cells")
    rows = zip(*(cells[name] for name in ("process", "column", "sequence", *_COUNTS)))
    for process, column, sequence, *counts in rows:
        own = communicators.get((process, column))
        if own is None:
            own = {
                "name": text.told(columns[column]["name"]),
                "unique_id": column,
                "size": sizes[column],
                "next_sequence": sequence,
            }
            communicators[process, column] = own
            found[process]["communicators"].append(own)
        # A queue that is not named is empty: there may be a million of them. Those of one name are one here.
        own.update({queue: _queue(count) for queue, count in zip(_QUEUES, counts) if count and queue not in own})
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
        communicators[process, column][_QUEUES[queue]]["operations"].append(operation)
    if messages["left_out"]:
        _tell_what_is_left_out(communicators, cells)


def _queue(count: int) -> Dict[str, Any]:
    """One that has something, or of which nothing is known."""
    if count < 0:
        return {"state": "no_information", "detail": "it was not read; why, the report does not keep", "operations": []}
    return {"state": "ok", "detail": None, "operations": []}


def _tell_what_is_left_out(communicators: Mapping[Tuple[int, int], Dict[str, Any]], cells: Mapping[str, Any]) -> None:
    """A queue of which the report lists a part is not whole, and no error either: there may be a million of them."""
    read: Counter[Tuple[int, int, str]] = Counter()
    for process, column, *counts in zip(*(cells[name] for name in ("process", "column", *_COUNTS))):
        for queue, count in zip(_QUEUES, counts):
            if count > 0:
                read[process, column, queue] += count
    for (process, column, name), count in read.items():
        queue = communicators[process, column][name]
        listed = len(queue["operations"])
        if listed < count:
            queue.update(state="no_information", detail=f"the report lists {listed:,} of its {count:,} operations")


def _place(line: Optional[str]) -> Tuple[Optional[str], Optional[int]]:
    """File and line of ``halo.c:42``."""
    if line is None:
        return None, None
    file, _, number = line.rpartition(":")
    return (file, int(number)) if file and number.isdecimal() else (line, None)
