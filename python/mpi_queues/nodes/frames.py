"""What agents write, among whatever else comes through an engine; ``crates/agent/src/node/frame.rs`` says how it looks.

It is what a stranger wrote: nothing of it is believed that does not fit, and nothing grows without bound.
"""

from __future__ import annotations

import binascii
import zlib
from dataclasses import dataclass, field
from typing import List, Optional

#: A message is not longer than this, packed and unpacked, in bytes.
MAX_PACKED = 64 << 20
MAX_MESSAGE = 512 << 20

#: One that is no digest is not longer than this, unpacked: as Python's objects it takes some twenty times as much.
MAX_WORDS = 4 << 20

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

    def body(self) -> bytes:
        """What it says. Other Python threads run meanwhile.

        Raises:
            BadFrame: where it is damaged, or longer than any message.
        """
        most = MAX_MESSAGE if self.kind == "digest" else MAX_WORDS
        unpacker = zlib.decompressobj()
        try:
            body = unpacker.decompress(self.packed, most)
        except zlib.error as error:
            raise BadFrame("a message of an agent is damaged") from error
        if not unpacker.eof:
            raise BadFrame(f"a message of an agent is damaged, or has more than {most >> 20} MiB")
        return body


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
