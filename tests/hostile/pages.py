"""Reports and lines of agents of strangers: bytes that are others, and small files that say very much.

Of each seed follow which target of ``tests/fuzz``, which of its inputs, and what is done to it.
"""

from __future__ import annotations

import json
import random
from typing import Callable, Dict, Iterator, Optional, Sequence, Tuple

from fuzz.targets import COLUMNS_OF_MESSAGES, COLUMNS_OF_RANKS, TARGETS

from .guarded import Run, guarded

#: Some bombs, and some changes; the first 66 have every bomb.
SHORT = range(1)
LONG = range(1000)
MPIS: Tuple[str, ...] = ()

#: What often decides something.
_OFTEN = (0, 0xFF, 0x80, *b'"9-[{,:e')


def runs(seeds: Sequence[int], mpi: Optional[str]) -> Iterator[Run]:
    """One run a seed."""
    names = sorted(BOMBS)
    for seed in seeds:
        if seed % 3 == 0:
            name = names[seed // 3 % len(names)]
            what, target, data = f"{seed}: bomb, {name}", "page", BOMBS[name]()
        else:
            what, target, data = _changed(seed)
        outcome = guarded(lambda target=target, data=data: TARGETS[target].run(data))
        yield Run(what, outcome.problems, outcome.seconds, "taken" if not outcome.problems else "ended")


def _changed(seed: int) -> Tuple[str, str, bytes]:
    chance = random.Random(seed)
    name = chance.choice(sorted(TARGETS))
    number, data = chance.choice(list(enumerate(map(bytearray, TARGETS[name].seeds()))))
    count = chance.choice((1, 2, 5, 20))
    for _ in range(count):
        at = chance.randrange(len(data) + 1)
        kind = chance.randrange(4)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 1 and at < len(data):
            data[at] = chance.choice(_OFTEN)
        elif kind == 2:
            del data[at : at + chance.randrange(8)]
        else:
            data[at:at] = data[at : at + chance.randrange(40)]
    return f"{seed}: {name}, input {number}, {count} changes", name, bytes(data)


def _many_ranks(ranks: int, length: int) -> bytes:
    """Each rank with the same long text."""
    tables = {
        "strings": ["x" * length],
        "ranks": {name: [0] * ranks for name in COLUMNS_OF_RANKS},
        "messages": {name: [] for name in COLUMNS_OF_MESSAGES},
        "columns": [],
        "cells": {"process": [], "column": []},
    }
    told = {"schema": "mpi-queues/1", "captured_at": None, "processes": []}
    return b"t" + json.dumps(told).encode() + b"\0" + json.dumps(tables).encode()


def _packed(items: str, what: str = "processes", more: str = "") -> bytes:
    """A report of some ten kilobytes: an object a few letters long, ten million times or so."""
    return b"z" + f'{{"schema":"mpi-queues/1","captured_at":null{more},"{what}":[{items}]}}'.encode()


def _often(item: str, megabytes: int = 60) -> str:
    count = (megabytes << 20) // (len(item) + 1)
    return ",".join([item] * count)


def _one(member: str, items: str) -> bytes:
    return _packed(f'{{"{member}":[{items}]}}')


def _large_tables(ranks: int, cells: int, messages: int) -> bytes:
    """Of very many ranks, packed."""
    tables = {
        "strings": ["pending"],
        "ranks": {name: [0] * ranks for name in COLUMNS_OF_RANKS},
        "messages": {**{name: [0] * messages for name in COLUMNS_OF_MESSAGES}, "left_out": 1},
        "columns": [{"name": "MPI_COMM_WORLD", "least": 1, "most": 1}],
        "cells": {name: [1] * cells for name in ("sequence", "sends", "receives", "unexpected")},
    }
    tables["cells"].update({"process": [at % ranks for at in range(cells)], "column": [0] * cells})
    told = {"schema": "mpi-queues/1", "captured_at": None, "processes": []}
    return b"T" + json.dumps(told).encode() + b"\0" + json.dumps(tables).encode()


BOMBS: Dict[str, Callable[[], bytes]] = {
    "processes without anything": lambda: _packed(_often("{}")),
    "communicators without anything": lambda: _one("communicators", _often("{}")),
    "calls without anything": lambda: _one("calls", _often("{}")),
    "operations": lambda: _one("communicators", '{"pending_receives":{"operations":[' + _often("{}") + "]}}"),
    "handles": lambda: _one("handles", '{"kind":"comm","complete":true,"handles":[' + _often("{}") + "]}"),
    "texts without letters": lambda: _one("problems", _often('""')),
    "findings": lambda: _packed("", more=',"diagnosis":[' + _often("{}") + "]"),
    "stacks of all ranks there are": lambda: _packed(
        "",
        more=',"stacks":{"all_threads":false,"internal":false,"members":{"ranks":"0-4000000000","pids":""},"nodes":[]}',
    ),
    "a group of very many": lambda: _one("communicators", '{"group":[' + _often("0") + "]}"),
    "many groups": lambda: _one(
        "communicators", ",".join('{"group":[' + ",".join(map(str, range(at, at + 300))) + "]}" for at in range(30_000))
    ),
    "many stacks": lambda: _one("stacks", _often('{"thread":1,"frames":[{}]}')),
    "tables of many ranks": lambda: _large_tables(1 << 20, 0, 0),
    "tables of many cells": lambda: _large_tables(100_000, 4 << 20, 0),
    "tables of many messages": lambda: _large_tables(10, 1, 2 << 20),
    "tables of what there may be": lambda: _large_tables(1 << 17, 1 << 17, 100_000),
    "a text of many ranks": lambda: _many_ranks(20_000, 1 << 20),
    "very many ranks": lambda: _many_ranks((1 << 20) + 1, 1),
    "deep": lambda: b"j" + b"[" * 1_000_000,
    "deep tables": lambda: b"t{}\0" + b'{"strings":' * 200_000,
    "deep objects": lambda: b"j" + b'{"processes":[' * 200_000,
    "much of nothing": lambda: b"z" + bytes(600 << 20),
    "a long number": lambda: (
        b'j{"schema":"mpi-queues/1","captured_at":null,"processes":[{"rank":' + b"9" * 100_000 + b"}]}"
    ),
}
