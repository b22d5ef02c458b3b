"""Takes recordings apart and puts them together by the description of their format, without the project's code.

The description stands in crates/recording/src/frame.rs.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Iterable, Iterator, Optional, Tuple

FIRST_LINE = b"mpi-queues recording 1\n"
HEADER = struct.Struct("<4sIQQII")


def frames(path: Path) -> Iterator[Tuple[str, bytes]]:
    """Kind and content of each frame."""
    return frames_of(path.read_bytes())


def frames_of(data: bytes) -> Iterator[Tuple[str, bytes]]:
    """The same of a file's bytes."""
    at = data.index(b"\n") + 1
    assert data[:at] == FIRST_LINE
    while at < len(data):
        kind, _, body_len, raw_len, body_crc, header_crc = HEADER.unpack_from(data, at)
        assert zlib.crc32(data[at : at + HEADER.size - 4]) == header_crc
        body = data[at + HEADER.size : at + HEADER.size + body_len]
        assert len(body) == body_len and zlib.crc32(body) == body_crc
        raw = zlib.decompress(body)
        assert len(raw) == raw_len
        yield kind.decode(), raw
        at += HEADER.size + body_len


def frame(kind: str, raw: bytes, *, claimed: Optional[int] = None, level: int = 9) -> bytes:
    """One frame as it stands in a file; ``claimed`` is a false length after decompression."""
    body = zlib.compress(raw, level)
    head = HEADER.pack(kind.encode(), 0, len(body), len(raw) if claimed is None else claimed, zlib.crc32(body), 0)[:-4]
    return head + struct.pack("<I", zlib.crc32(head)) + body


def recording(parts: Iterable[Tuple[str, bytes]]) -> bytes:
    """A whole file of these frames."""
    return FIRST_LINE + b"".join(frame(kind, raw) for kind, raw in parts)
