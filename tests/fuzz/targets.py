"""One function for each thing that reads bytes of strangers: it ends, with an answer or one of its own errors."""

from __future__ import annotations

import json
import os
import tempfile
import zlib
from base64 import b64encode
from typing import Callable, Dict, List, NamedTuple

from mpi_queues.errors import UserError
from mpi_queues.nodes.frames import BadFrame, Frames
from mpi_queues.page import inside


class FuzzTarget(NamedTuple):
    """Something that takes any bytes."""

    run: Callable[[bytes], None]
    #: Inputs to begin with.
    seeds: Callable[[], List[bytes]]
    #: Longer inputs find nothing more.
    longest: int


def page(data: bytes) -> None:
    """A report: its data, whole or packed; that of very many ranks, which is in two places; or the file itself."""
    form, content = data[:1], data[1:]
    if form == b"0":
        elements = content
    elif form == b"z":
        elements = element("snapshot", b64encode(zlib.compress(content)), "zlib")
    elif form == b"T":
        told, _, tables = content.partition(b"\0")
        packed = b64encode(zlib.compress(tables))
        elements = element("snapshot", told, "json", ' data-without="processes"') + element("tables", packed, "zlib")
    elif form == b"t":
        told, _, tables = content.partition(b"\0")
        elements = element("snapshot", told, "json", ' data-without="processes"') + element("tables", tables, "json")
    else:
        elements = element("snapshot", content, "json")
    with tempfile.NamedTemporaryFile(suffix=".html") as file:
        file.write(inside.MARK.encode() + elements)
        file.flush()
        assert inside.is_page(file.name)
        try:
            snapshot = inside.read(file.name)
        except UserError as error:
            assert str(error)
            return
        snapshot.diagnose().to_json()


def element(name: str, content: bytes, form: str, more: str = "") -> bytes:
    """As a page has it."""
    begin = f'<script type="application/json" id="{name}" data-form="{form}"{more}>'
    return begin.encode() + content + b"</script>"


#: What the tables of a page have of each message, and of each rank.
COLUMNS_OF_MESSAGES = (
    *("process", "column", "queue", "peer", "global", "any", "tag", "wild", "bytes", "count", "datatype", "call"),
    *("status", "internal"),
)
COLUMNS_OF_RANKS = ("rank", "pid", "host", "program", "function", "caller", "line", "problem")


def _pages() -> List[bytes]:
    rank = {"rank": 0, "pid": 7, "host": "n1", "communicators": [], "calls": []}
    snapshot = {"schema": "mpi-queues/1", "captured_at": None, "processes": [rank]}
    whole = json.dumps(snapshot).encode()
    ranks = {
        "rank": [0, 1],
        "pid": [7, 8],
        "host": [0, 0],
        "program": [1, 1],
        "function": [2, -1],
        "caller": [3, -1],
        "line": [4, -1],
        "problem": [-1, -1],
    }
    message = {name: [0] for name in COLUMNS_OF_MESSAGES}
    tables = {
        "strings": ["n1", "./solver", "MPI_Recv", "exchange", "halo.c:42", "pending"],
        "ranks": ranks,
        "messages": {**message, "datatype": [-1], "call": [2], "status": [5]},
        "columns": [{"name": "MPI_COMM_WORLD"}],
        "cells": {"process": [0], "column": [0]},
    }
    without = json.dumps({**snapshot, "processes": []}).encode()
    large = b"t" + without + b"\0" + json.dumps(tables).encode()
    return [b"j" + whole, b"z" + whole, large, b"0" + element("snapshot", whole, "json"), b"0", b"t" + without]


def frames(data: bytes) -> None:
    """Lines that come from a node, its agent's among others."""
    assembler = Frames()
    for line in data.split(b"\n"):
        try:
            message = assembler.feed(line)
            if message is not None:
                assert len(message.body()) <= message.longest
        except BadFrame as error:
            assert str(error)
            assembler = Frames()
    assert len(assembler.others) <= 5


def _frames() -> List[bytes]:
    def line(kind: bytes, look: int, part: int, parts: int, piece: bytes) -> bytes:
        return b"mq1 %s %d %d %d %08x %s" % (kind, look, part, parts, zlib.crc32(piece), b64encode(piece))

    packed = zlib.compress(b"{}" * 100)
    one = line(b"hello", 0, 1, 1, packed)
    two = [line(b"digest", 3, 1, 2, packed[:10]), line(b"digest", 3, 2, 2, packed[10:])]
    return [
        one,
        b"\n".join([b"Last login: never", *two, b"", one]),
        b"\n".join(reversed(two)),
        b"mq1 told 1 1 1 0 AAAA",
    ]


TARGETS: Dict[str, FuzzTarget] = {
    "page": FuzzTarget(page, _pages, 8192),
    "agent-frames": FuzzTarget(frames, _frames, 4096),
}


def write_seeds(directory: str) -> None:
    """Writes them to DIRECTORY/NAME/NUMBER."""
    for name, target in TARGETS.items():
        place = os.path.join(directory, name)
        os.makedirs(place, exist_ok=True)
        for number, seed in enumerate(target.seeds()):
            with open(os.path.join(place, str(number)), "wb") as file:
                file.write(seed)
