"""What a report of very many ranks keeps of each: its tables, read again as a snapshot.

Addresses, groups, stacks and arguments of each of a hundred thousand ranks take gigabytes. The diagnosis is there
whole, and so is what the page shows.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple

_QUEUES = ("pending_sends", "pending_receives", "unexpected_messages")

#: What the tables call how many operations are in each.
_COUNTS = ("sends", "receives", "unexpected")

#: More of them no report has, and longer texts of all neither: a text stands once in the tables and in each rank here.
_MOST_RANKS, _MOST_ROWS, _MOST_TEXT = 1 << 18, 1 << 21, 128 << 20

#: The columns of the table of messages, but the process.
_MESSAGE = (
    "column",
    "queue",
    "peer",
    "global",
    "any",
    "tag",
    "wild",
    "bytes",
    "count",
    "datatype",
    "call",
    "status",
    "internal",
)

#: What is to be known of what was read so.
NOTE = (
    "read from a report of very many ranks, which has of each rank only what it shows, without addresses, groups, "
    "arguments and stacks; another diagnosis needs a recording"
)


def processes(tables: Mapping[str, Any], most: int) -> str:
    """The JSON of a snapshot of the processes that the tables of a report have, of at most so many letters.

    Raises:
        ValueError: where the tables do not fit together, or have more.
    """
    pieces: List[str] = []
    left = most
    try:
        for process in _processes(tables):
            piece = json.dumps(process)
            left -= len(piece)
            if left < 0:
                raise ValueError(f"its tables have more than {most >> 20} MiB")
            pieces.append(piece)
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"its tables do not fit together: {type(error).__name__}: {error}") from None
    return f'{{"schema":"mpi-queues/1","captured_at":null,"processes":[{",".join(pieces)}]}}'


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


class _Rows:
    """The rows of a table by the process to which they belong, each asked for once, in order."""

    def __init__(self, table: Mapping[str, Any], names: Sequence[str]) -> None:
        of = table["process"]
        if len(of) > _MOST_ROWS:
            raise ValueError(f"its tables have more than {_MOST_ROWS} rows")
        self._of, self._columns = of, [table[name] for name in names]
        self._order = sorted(range(min(map(len, (of, *self._columns)))), key=of.__getitem__)
        self._next = 0

    def of(self, process: int) -> Iterator[Tuple[Any, ...]]:
        """Those of a process."""
        while self._next < len(self._order) and self._of[self._order[self._next]] == process:
            row = self._order[self._next]
            self._next += 1
            yield tuple(column[row] for column in self._columns)

    def end(self) -> None:
        """Whether all had a process."""
        if self._next < len(self._order):
            raise LookupError(f"there is no process {self._of[self._order[self._next]]}")


def _processes(tables: Mapping[str, Any]) -> Iterator[Dict[str, Any]]:
    """One after the other: as objects of Python all together take many times what they say."""
    text = _Texts(tables["strings"])
    ranks, columns = tables["ranks"], tables["columns"]
    if len(ranks["rank"]) > _MOST_RANKS:
        raise ValueError(f"its tables have more than {_MOST_RANKS} ranks")
    cells = _Rows(tables["cells"], ("column", "sequence", *_COUNTS))
    messages = _Rows(tables["messages"], _MESSAGE)
    is_cut = bool(tables["messages"]["left_out"])
    names = ("rank", "pid", "host", "program", "function", "caller", "line", "problem")
    every = zip(*(ranks[name] for name in names))
    for at, (rank, pid, host, program, function, caller, line, problem) in enumerate(every):
        file, number = _place(text(line))
        place = {"thread": 1, "file": file, "line": number, "caller": text(caller)}
        yield {
            "rank": rank,
            "pid": pid,
            "host": text(host),
            "executable": text(program),
            "calls": [{**place, "function": text(function)}] if function >= 0 else [],
            "outside": [place] if function < 0 and (line >= 0 or caller >= 0) else [],
            "communicators": _communicators(cells.of(at), messages.of(at), columns, text, is_cut=is_cut),
            "problems": [text(problem)] if problem >= 0 else [],
        }
    cells.end()
    messages.end()


def _communicators(
    cells: Iterable[Tuple[Any, ...]],
    messages: Iterable[Tuple[Any, ...]],
    columns: Sequence[Mapping[str, Any]],
    text: _Texts,
    *,
    is_cut: bool,
) -> List[Dict[str, Any]]:
    """The communicators in which a rank has something, and what it is."""
    found: Dict[int, Dict[str, Any]] = {}
    read: Counter[Tuple[int, str]] = Counter()
    for column, sequence, *counts in cells:
        own = found.get(column)
        if own is None:
            of = columns[column]
            own = found[column] = {
                "name": text.told(of["name"]),
                "unique_id": column,
                "size": of["least"] if of["least"] == of["most"] else None,
                "next_sequence": sequence,
            }
        for queue, count in zip(_QUEUES, counts):
            # A queue that is not named is empty: there may be a million of them. Those of one name are one here.
            if count and queue not in own:
                own[queue] = _queue(count)
            read[column, queue] += max(0, count)
    for column, queue, peer, world, any_source, tag, wild, length, count, datatype, call, status, internal in messages:
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
            "internal": bool(internal),
        }
        found[column][_QUEUES[queue]]["operations"].append(operation)
    # A queue of which the report lists a part is not whole, and no error either.
    for (column, name), count in read.items() if is_cut else ():
        listed = len(found[column][name]["operations"]) if count else 0
        if listed < count:
            why = f"the report lists {listed:,} of its {count:,} operations"
            found[column][name].update(state="no_information", detail=why)
    return list(found.values())


def _queue(count: int) -> Dict[str, Any]:
    """One that has something, or of which nothing is known."""
    if count < 0:
        return {
            "state": "no_information",
            "detail": "it was not read; the report does not keep the reason",
            "operations": [],
        }
    return {"state": "ok", "detail": None, "operations": []}


def _place(line: Optional[str]) -> Tuple[Optional[str], Optional[int]]:
    """File and line of ``halo.c:42``."""
    if line is None:
        return None, None
    file, _, number = line.rpartition(":")
    return (file, int(number)) if file and number.isdecimal() else (line, None)
