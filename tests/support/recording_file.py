"""Takes a recording apart by the description of its format (src/recording/frame.rs), without the project's code."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Iterator, Tuple

HEADER = struct.Struct("<4sIQQII")


def frames(path: Path) -> Iterator[Tuple[str, bytes]]:
    """Kind and content of each frame."""
    data = path.read_bytes()
    at = data.index(b"\n") + 1
    assert data[:at] == b"mpi-queues recording 1\n"
    while at < len(data):
        kind, _, body_len, raw_len, body_crc, header_crc = HEADER.unpack_from(data, at)
        assert zlib.crc32(data[at : at + HEADER.size - 4]) == header_crc
        body = data[at + HEADER.size : at + HEADER.size + body_len]
        assert len(body) == body_len and zlib.crc32(body) == body_crc
        raw = zlib.decompress(body)
        assert len(raw) == raw_len
        yield kind.decode(), raw
        at += HEADER.size + body_len
