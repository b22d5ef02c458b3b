"""Reports and lines of agents of strangers: bytes that are others, and small files that say very much.

Of each seed follow which target of ``tests/fuzz``, which of its inputs, and what is done to it.
"""

from __future__ import annotations

import json
import random
from typing import Callable, Dict, Iterator, Optional, Sequence, Tuple

from fuzz.targets import COLUMNS_OF_MESSAGES, COLUMNS_OF_RANKS, TARGETS

from .guarded import Run, guarded

#: Every bomb is among them.
SHORT = range(40)
LONG = range(1000)
MPIS: Tuple[str, ...] = ()

#: What often decides something.
_OFTEN = (0, 0xFF, 0x80, *b'"9-[{,:e')


def runs(seeds: Sequence[int], mpi: Optional[str]) -> Iterator[Run]:
    """One run a seed."""
    names = sorted(BOMBS)
    for seed in seeds:
        if seed % 6 == 0:
            name = names[seed // 6 % len(names)]
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


BOMBS: Dict[str, Callable[[], bytes]] = {
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
