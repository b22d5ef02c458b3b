"""Which function a call instruction leads to, on made-up code."""

from __future__ import annotations

from typing import Dict, List, Optional

import pytest
from mpi_queues.debuggers import called
from mpi_queues.debuggers.base import FrameDict, MemoryFault

#: The caller's code ends with the call at this address; stubs, a table and functions lie elsewhere.
AFTER = 0x401200
STUB, TABLE, WAITANY, OTHER = 0x401020, 0x404018, 0x7F0000001000, 0x7F0000002000
NAMES = {WAITANY: "PMPI_Waitany", OTHER: "poll"}


class Memory:
    """Of a process only what ``called`` asks for."""

    pointer_size = 8
    byte_order = "little"

    def __init__(self, pieces: Dict[int, bytes]) -> None:
        self.pieces = pieces

    def read_memory(self, address: int, length: int) -> bytes:
        for start, content in self.pieces.items():
            if start <= address and address + length <= start + len(content):
                return content[address - start : address - start + length]
        raise MemoryFault(address, length)


def _distance(target: int, after: int) -> bytes:
    return (target - after).to_bytes(4, "little", signed=True)


def _frames(application: List[bool]) -> List[FrameDict]:
    return [{"function": None, "file": None, "line": None, "application": one} for one in application]


def _found(pieces: Dict[int, bytes], application: Optional[List[bool]] = None) -> object:
    frames = _frames([False, False, True, True] if application is None else application)
    return called.mpi_call(frames, Memory(pieces), lambda at: AFTER if at == 2 else 0x10, NAMES.get)  # type: ignore[arg-type]


CALL = b"\x90\xe8" + _distance(STUB, AFTER)
INDIRECT = b"\xff\x15" + _distance(TABLE, AFTER)


@pytest.mark.parametrize("before", [b"", b"\xf3\x0f\x1e\xfa", b"\xf3\x0f\x1e\xfa\xf2", b"\xf2"])
def test_through_a_stub(before: bytes) -> None:
    stub = before + b"\xff\x25" + _distance(TABLE, STUB + len(before) + 6)
    pieces = {AFTER - 6: CALL, STUB: stub.ljust(16, b"\x90"), TABLE: WAITANY.to_bytes(8, "little")}
    assert _found(pieces) == (2, "PMPI_Waitany")
    assert _found({**pieces, TABLE: OTHER.to_bytes(8, "little")}) is None


def test_through_the_table_alone() -> None:
    assert _found({AFTER - 6: INDIRECT, TABLE: WAITANY.to_bytes(8, "little")}) == (2, "PMPI_Waitany")


@pytest.mark.parametrize(
    "pieces",
    [
        {},
        {AFTER - 6: b"\x90" * 6},
        {AFTER - 6: CALL},
        {AFTER - 6: CALL, STUB: b"\xff\x25\x00\x00\x00\x00".ljust(16, b"\0")},
        {AFTER - 6: b"\x90\xe8\xff\xff\xff\x7f"},
    ],
)
def test_what_leads_nowhere(pieces: Dict[int, bytes]) -> None:
    assert _found(pieces) is None


def test_only_calls_out_of_the_application_count() -> None:
    pieces = {AFTER - 6: INDIRECT, TABLE: WAITANY.to_bytes(8, "little")}
    assert _found(pieces, [False, True, True, True]) is None
    assert _found(pieces, [False, False, False, True]) is None
