"""What comes from nodes is what strangers wrote: whole messages get through, everything else is told or left out."""

from __future__ import annotations

import base64
import random
import zlib
from typing import List, Optional

import pytest
from mpi_queues.nodes import frames
from mpi_queues.nodes.frames import BadFrame, Frames, Message

PIECE = 648


def lines_of(kind: str, look: int, body: bytes) -> List[bytes]:
    """As the agent writes it."""
    packed = zlib.compress(body)
    pieces = [packed[at : at + PIECE] for at in range(0, len(packed), PIECE)]
    return [
        b"mq1 %s %d %d %d %08x %s"
        % (kind.encode(), look, number, len(pieces), zlib.crc32(piece), base64.b64encode(piece))
        for number, piece in enumerate(pieces, 1)
    ]


def fed(lines: List[bytes]) -> Optional[Message]:
    assembler = Frames()
    found = None
    for line in lines:
        found = assembler.feed(line) or found
    if found is not None:
        found.body()
    return found


BODY = random.Random(7).randbytes(5000)


def test_a_message_comes_whole_among_other_lines() -> None:
    lines = lines_of("digest", 3, BODY)
    assert len(lines) > 5
    noise = [b"Last login: never", b"", b"\x1b[31mmq2 digest", b"module: not found"]
    mixed = [line for pair in zip(lines, noise * len(lines)) for line in pair]
    assembler = Frames()
    found = [message for message in map(assembler.feed, [*mixed, *lines_of("told", 4, b"{}")]) if message]
    assert [(one.kind, one.look, one.body()) for one in found] == [("digest", 3, BODY), ("told", 4, b"{}")]
    assert 0 < len(assembler.others) <= 5


@pytest.mark.parametrize("seed", range(60))
def test_a_damaged_message_is_none(seed: int) -> None:
    """One byte of one line is another one: the line is no frame at all, or its damage is seen."""
    chance = random.Random(seed)
    lines = lines_of("digest", 3, BODY)
    at = chance.randrange(len(lines))
    place = chance.randrange(len(lines[at]))
    damaged = bytearray(lines[at])
    damaged[place] ^= chance.randrange(1, 256)
    lines[at] = bytes(damaged)
    try:
        found = fed(lines)
    except BadFrame:
        return
    # Other digits of the look's number in every line would be another look, in one line they do not fit.
    assert found is None or found.body() == BODY


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines[:2] + lines[3:],
        lambda lines: lines[1:],
        lambda lines: [lines[0], *lines],
        lambda lines: list(reversed(lines)),
        lambda lines: lines[:-1] + lines_of("told", 3, b"{}"),
        lambda lines: [b"mq1 shell 1 1 1 00000000 AAAA"],
        lambda lines: [b"mq1 digest 1 1 1"],
        lambda lines: [b"mq1 digest -1 1 1 00000000 "],
        lambda lines: [b"mq1 digest 1 2 1 " + lines[0].split(b" ", 5)[5]],
        lambda lines: [b"mq1 digest 1 1 1 %08x %s" % (zlib.crc32(b"no zlib"), base64.b64encode(b"no zlib"))],
    ],
)
def test_missing_doubled_and_made_up_lines_are_refused(change: object) -> None:
    assert callable(change)
    with pytest.raises(BadFrame):
        fed(change(lines_of("digest", 3, BODY)))


def test_a_message_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MAX_MESSAGE", 1 << 20)
    assert fed(lines_of("digest", 1, bytes(1 << 19))) is not None
    with pytest.raises(BadFrame, match="more than 1 MiB"):
        fed(lines_of("digest", 1, bytes(1 << 21)))
    monkeypatch.setattr(frames, "MAX_PACKED", 2000)
    with pytest.raises(BadFrame, match="has more than"):
        fed(lines_of("digest", 1, BODY))


def test_what_is_no_digest_is_short() -> None:
    """As objects of Python it would take twenty times as much memory as it has bytes."""
    for kind in ("hello", "told", "refused"):
        assert fed(lines_of(kind, 1, b" " * frames.MAX_WORDS)) is not None
        with pytest.raises(BadFrame, match="more than 4 MiB"):
            fed(lines_of(kind, 1, b" " * (frames.MAX_WORDS + 1)))
    assert fed(lines_of("digest", 1, b" " * (frames.MAX_WORDS + 1))) is not None


def test_a_message_of_very_many_parts_is_refused_at_the_first() -> None:
    with pytest.raises(BadFrame):
        Frames().feed(b"mq1 digest 1 1 999999999999 00000000 ")
