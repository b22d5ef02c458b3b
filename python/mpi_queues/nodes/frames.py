"""What agents write, among whatever else comes through an engine; ``crates/agent/src/node/frame.rs`` says how it looks.

It is what a stranger wrote: nothing of it is believed that does not fit, and nothing grows without bound.
"""

from __future__ import annotations

import binascii
import json
import zlib
from dataclasses import dataclass, field
from typing import Any, List, Optional

from ..system.json_values import count_values

#: A message is not longer than this, packed and unpacked, in bytes; one of a few packed bytes is not as long, either:
#: what is written unpacks to eight times its length or so, blanks to a thousand times.
MAX_PACKED = 64 << 20
MAX_MESSAGE = 256 << 20
_UNPACKED = (32 << 20, 32)

#: One that is no digest is not longer than this, unpacked: as Python's objects it takes some twenty times as much. What
#: it tells are process ids, and it has no more values than this.
MAX_WORDS = 4 << 20
_MAX_VALUES = 1 << 18

#: It has no more parts than this; an agent writes 648 bytes a part.
_MAX_PARTS = 1 << 17

#: So many lines that are none of an agent's are kept, each cut after so many bytes: they may say what is wrong.
_MAX_OTHERS = 5
_MAX_OTHER = 200

_KINDS = (b"hello", b"told", b"digest", b"refused")


class BadFrame(Exception):
    """A line that begins as an agent's do, and is none."""


@dataclass(frozen=True)
class Message:
    """One whole message."""

    kind: str
    #: The number of the look that it belongs to.
    look: int
    #: What it says, compressed.
    packed: bytes

    @property
    def longest(self) -> int:
        """How long it may be, unpacked."""
        least, times = _UNPACKED
        return min(MAX_MESSAGE, least + times * len(self.packed)) if self.kind == "digest" else MAX_WORDS

    def body(self) -> bytes:
        """What it says, unpacked.

        Raises:
            BadFrame: where it is damaged, or longer than any message.
        """
        unpacker = zlib.decompressobj()
        try:
            body = unpacker.decompress(self.packed, self.longest)
        except zlib.error as error:
            raise BadFrame("a message of an agent is damaged") from error
        if not unpacker.eof:
            raise BadFrame(f"a message of an agent is damaged, or has more than {self.longest >> 20} MiB")
        return body

    def words(self) -> Any:
        """What it says, where it is no digest.

        Raises:
            BadFrame: where it is damaged, or more than any message says.
            ValueError, RecursionError: where it is no JSON.
        """
        body = self.body()
        if count_values(body) > _MAX_VALUES:
            raise BadFrame(f"a message of an agent has more than {_MAX_VALUES:,} values")
        return json.loads(body)


@dataclass
class Frames:
    """The lines of one agent."""

    #: The parts of the message that is coming.
    _parts: List[bytes] = field(default_factory=list)
    _head: Optional[List[bytes]] = None
    _size: int = 0
    #: Lines that are none of an agent's.
    others: List[str] = field(default_factory=list)

    def feed(self, line: bytes) -> Optional[Message]:
        """Takes a line without its label; a message where it is whole now.

        Raises:
            BadFrame: where it is damaged, or not the next one.
        """
        if not line.startswith(b"mq1 "):
            if line.strip() and len(self.others) < _MAX_OTHERS:
                self.others.append(line[:_MAX_OTHER].decode("utf-8", "replace").strip())
            return None
        words = line.split()
        if len(words) != 7 or words[1] not in _KINDS:
            raise BadFrame("a line of an agent is damaged")
        number, of = _number(words[3]), _number(words[4])
        piece = _decoded(words[6], words[5])
        head = [words[1], words[2], words[4]]
        if number == 1 and not self._parts:
            self._head = head
        if self._head != head or number != len(self._parts) + 1 or number > of or of > _MAX_PARTS:
            raise BadFrame("lines of an agent are missing")
        self._size += len(piece)
        if self._size > MAX_PACKED:
            raise BadFrame(f"a message of an agent has more than {MAX_PACKED >> 20} MiB")
        self._parts.append(piece)
        if number < of:
            return None
        packed, look = b"".join(self._parts), _number(words[2])
        self._parts, self._head, self._size = [], None, 0
        return Message(words[1].decode("ascii"), look, packed)


def _number(word: bytes) -> int:
    if not word.isdigit() or len(word) > 12:
        raise BadFrame("a line of an agent is damaged")
    return int(word)


def _decoded(text: bytes, crc: bytes) -> bytes:
    # Whatever is no letter of it is left out: the checksum tells.
    try:
        piece = binascii.a2b_base64(text)
    except binascii.Error:
        piece = None
    if piece is None or b"%08x" % zlib.crc32(piece) != crc:
        raise BadFrame("a line of an agent is damaged")
    return piece
