"""What agents of nodes send: digests that are changed, and small ones that say very much.

Of each seed follow which of the bombs it is and how large, or which digest is changed, and how.
"""

from __future__ import annotations

import json
import random
import zlib
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from mpi_queues._native import Digests, Snapshot
from mpi_queues.nodes.frames import Message

from .guarded import Run, guarded

#: Every bomb is among them.
SHORT = range(2)
LONG = range(4000)
MPIS: Tuple[str, ...] = ()

_SCHEMA = {"schema": "mpi-queues/1", "captured_at": None}

#: What often decides something.
_OFTEN = (0, 0xFF, 0x80, *b'~0123456789"-[]{},: \nn')


def runs(seeds: Sequence[int], mpi: Optional[str]) -> Iterator[Run]:
    """One run a seed."""
    names = sorted(BOMBS)
    for seed in seeds:
        chance = random.Random(seed)
        if seed % 3 == 0:
            # The smallest first: all of them are seen, then how large they are is chance.
            name, many = names[seed // 3 % len(names)], seed // 3 >= len(names)
            size = int(10 ** chance.uniform(2, 6)) if many else 1_000_000
            what, text = f"{seed}: bomb of {size}, {name}", BOMBS[name](size)
        else:
            what, text = _changed(seed, chance)
        outcome = guarded(lambda text=text: _read(text))
        yield Run(what, outcome.problems, outcome.seconds, outcome.value or "ended")


def _read(text: bytes) -> str:
    """As a front does: it is read, merged with what an honest node says, and told."""
    honest = Digests()
    message = Message("digest", 1, zlib.compress(text, 6))
    try:
        snapshot = honest.read("n1", message.packed, message.longest)
    except ValueError as error:
        assert str(error).isprintable()
        outcome = "refused"
    else:
        diagnosis = Snapshot.merged([snapshot]).diagnose()
        lengths: List[int] = []
        diagnosis.write_json(lambda piece: lengths.append(len(piece)))
        outcome = "read" if sum(lengths) < 64 << 20 else "read, and long"
    # The other nodes are heard as before.
    good = Message("digest", 1, zlib.compress(_digest(*_honest())))
    assert len(honest.read("n2", good.packed, good.longest).processes) == 3
    return outcome


def _digest(parts: Sequence[str], snapshot: Dict[str, Any]) -> bytes:
    head = json.dumps({"digest": 2, "known": 0, "parts": len(parts)})
    return "\n".join([head, *parts, json.dumps({**_SCHEMA, **snapshot}, separators=(",", ":"))]).encode()


def _honest() -> Tuple[List[str], Dict[str, Any]]:
    """Three ranks of a job: texts, a group, queues and processes are parts, two of which are told by another one."""
    queue = {"state": "ok", "detail": None, "operations": [{"desired_tag": 7, "desired_local_rank": 1}]}
    world = [{"name": 1, "size": 3, "group": 2, "pending_receives": 3}]
    process = {"rank": 0, "world_size": 3, "pid": 70, "host": 0, "communicators": 4, "problems": ["a problem"]}
    parts = ['"n1"', '"MPI_COMM_WORLD"', "[[0,1,3]]", json.dumps(queue), json.dumps(world)]
    parts += [json.dumps(process, separators=(",", ":")), "~5 0 1 1 71", "~5 0 2 1 72"]
    return parts, {"processes": [5, 6, 7], "notes": ["a note"]}


def _changed(seed: int, chance: random.Random) -> Tuple[str, bytes]:
    data = bytearray(_digest(*_honest()))
    count = chance.choice((1, 1, 2, 5, 20))
    for _ in range(count):
        at = chance.randrange(len(data))
        kind = chance.randrange(4)
        if kind == 0:
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            data[at] = chance.choice(_OFTEN)
        elif kind == 2:
            del data[at : at + chance.randrange(8)]
        else:
            data[at:at] = bytes(data[at : at + chance.randrange(40)]) * chance.choice((1, 3, 1000))
    return f"{seed}: {count} changes", bytes(data)


def _named(size: int, *parts: str) -> bytes:
    """The last of the parts as so many processes."""
    return _digest(parts, {"processes": [len(parts) - 1] * size})


def _many(item: str, size: int) -> str:
    return f"[{','.join([item] * size)}]"


def _laughs(size: int) -> bytes:
    """Each of three levels names the one below as often: as much as the third power says."""
    each = max(1, round(size ** (1 / 2)))
    queue = json.dumps({"operations": [{"desired_tag": 7}] * each})
    return _named(each, queue, _many('{"pending_receives":0}', each), '{"communicators":1}')


BOMBS: Dict[str, Callable[[int], bytes]] = {
    "one process very often": lambda size: _named(60 * size, '{"rank":1}'),
    "one process often": lambda size: _named(9 * size, '{"rank":1}'),
    "nobody's notes": lambda size: _digest([], {"notes": [""] * (8 * size)}),
    "problems of a process": lambda size: _named(1, json.dumps({"problems": [""] * (8 * size)})),
    "blanks": lambda size: _digest([], {}) + b" " * (200 * size),
    "lines": lambda size: _digest(["0"] * (3 * size), {}),
    "communicators without anything": lambda size: _named(1, _many("{}", size), '{"communicators":0}'),
    "operations without anything": lambda size: _named(1, f'{{"operations":{_many("{}", size)}}}'),
    "calls without anything": lambda size: _named(1, _many("{}", size), '{"calls":0}'),
    "processes without anything": lambda size: _digest(["{}"] * size, {"processes": list(range(size))}),
    "what is named names what is named": _laughs,
    "a very large group": lambda size: _named(1, f"[[0,1,{size * 1000}]]", '[{"group":0}]', '{"communicators":1}'),
    "many large groups": lambda size: _digest(
        [f"[[{number},1,{size}]]" for number in range(300)]
        + [f'[{{"group":{number}}}]' for number in range(300)]
        + [f'{{"communicators":{300 + number}}}' for number in range(300)],
        {"processes": list(range(600, 900))},
    ),
    "runs of a group": lambda size: _named(1, _many("[0,1,0]", 4 * size), '[{"group":0}]', '{"communicators":1}'),
    "forms": lambda size: _digest(
        [f'{{"notes":{_many("0", 50)}}}', *["~0"] * size], {"processes": list(range(min(size, 1 << 16)))}
    ),
    "a form of very much": lambda size: _digest([f'{{"notes":{_many("[]", 8 * size)}}}', "~0"], {"processes": [1]}),
    "findings": lambda size: _digest([], {"diagnosis": [{}] * size}),
    "worlds": lambda size: _digest([], {"worlds": [{"number": 0, "key": None, "name": None, "size": None}] * size}),
}
