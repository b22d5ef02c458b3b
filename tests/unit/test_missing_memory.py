"""A recording that lacks a piece of memory: nothing vanishes in silence, whichever piece it is."""

from __future__ import annotations

import json
import re
import struct
import zlib
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import mpi_queues
import pytest
from recordings import keep
from support import recording_file

FILES = sorted(keep.PLACE.glob("format-*/*.mpirec"))
#: Those of programs that post nothing and make handles.
HANDLES = [file for file in FILES if file.stem.endswith("-handles")]
KINDS = ("comm", "group", "errhandler", "info", "datatype", "op")
QUEUES = ("pending_sends", "pending_receives", "unexpected_messages")

Frames = List[Tuple[str, bytes]]


def _frame(kind: str, raw: bytes) -> bytes:
    body = zlib.compress(raw, 1)
    header = struct.pack("<4sIQQI", kind.encode(), 0, len(body), len(raw), zlib.crc32(body))
    return header + struct.pack("<I", zlib.crc32(header)) + body


def _first_process(file: Path) -> Tuple[Frames, Frames, Frames]:
    """The frames of the first process of a recording: those before its memory, its memory, those behind."""
    before: Frames = []
    memory: Frames = []
    after: Frames = []
    for kind, raw in recording_file.frames(file):
        if kind in ("RNGS", "MEMO"):
            memory.append((kind, raw))
        elif memory:
            after.append((kind, raw))
            break
        else:
            before.append((kind, raw))
    return before, memory, [*after, ("DONE", b'{"processes":1}')]


def _without_each(memory: Frames) -> Iterator[Tuple[int, Frames]]:
    """The memory without one of its ranges, for each of them, with the address of that range."""
    for index in range(0, len(memory), 2):
        pairs = list(struct.iter_unpack("<QQ", memory[index][1]))
        content = memory[index + 1][1]
        offset = 0
        for at, (address, length) in enumerate(pairs):
            kept = b"".join(struct.pack("<QQ", *pair) for pair in (*pairs[:at], *pairs[at + 1 :]))
            rest = content[:offset] + content[offset + length :]
            yield address, [*memory[:index], ("RNGS", kept), ("MEMO", rest), *memory[index + 2 :]]
            offset += length


def _load(place: Path, frames: Frames, handles: Tuple[str, ...] = ()) -> Any:
    place.write_bytes(b"mpi-queues recording 1\n" + b"".join(_frame(kind, raw) for kind, raw in frames))
    return json.loads(mpi_queues.load(place, handles=handles).to_json())


def _by_handle(process: Any) -> Dict[str, Any]:
    return {communicator["handle"]: communicator for communicator in process["communicators"]}


def _is_as_true(found: List[Dict[str, Any]], whole: List[Dict[str, Any]]) -> bool:
    """Whether all operations are there, with the same facts or facts that are said to be unknown."""
    return len(found) == len(whole) and all(
        value in (other[name], None) for one, other in zip(found, whole) for name, value in one.items()
    )


def _handles(process: Any) -> Dict[Tuple[str, str], Any]:
    return {(found["kind"], one["handle"]): one for found in process["handles"] for one in found["handles"]}


def _says_what_is_missing(handle: Any, fact: str) -> bool:
    """Whether a fact that is another than in the whole recording says so, itself or with its handle."""
    told = json.dumps([handle["facts"].get(fact), handle["unknown"].get(fact), handle["problems"], handle["detail"]])
    return "not in the recording" in told or handle["state"] == "unknown"


@pytest.mark.parametrize("file", HANDLES, ids=lambda file: file.stem)
@pytest.mark.slow
def test_no_missing_range_hides_a_fact_about_a_handle(file: Path, tmp_path: Path) -> None:
    before, memory, after = _first_process(file)
    (whole,) = _load(tmp_path / "whole.mpirec", [*before, *memory, *after], KINDS)["processes"]
    assert whole["problems"] == []
    assert all(found["handles"] for found in whole["handles"])
    unknown = lost = 0
    for address, less in _without_each(memory):
        try:
            snapshot = _load(tmp_path / "less.mpirec", [*before, *less, *after], KINDS)
        except mpi_queues.UserError:
            # What is said then is looked at below, with queues.
            continue
        (process,) = snapshot["processes"]
        found = _handles(process)
        incomplete = {one["kind"] for one in process["handles"] if not one["complete"]}
        for key, true in _handles(whole).items():
            handle = found.get(key)
            if handle is None:
                assert key[0] in incomplete, f"{address:#x}: {key} has vanished"
                lost += 1
                continue
            for fact, value in true["facts"].items():
                if handle["facts"].get(fact) != value:
                    assert _says_what_is_missing(handle, fact), f"{address:#x}: {key}: {fact}: {handle}"
                    unknown += 1
    assert unknown and lost


@pytest.mark.parametrize("file", [file for file in FILES if file not in HANDLES], ids=lambda file: file.stem)
@pytest.mark.usual("openmpi-4.1-barrier")
def test_no_missing_range_hides_anything(file: Path, tmp_path: Path) -> None:
    before, memory, after = _first_process(file)
    (whole,) = _load(tmp_path / "whole.mpirec", [*before, *memory, *after])["processes"]
    assert whole["problems"] == []
    refused = unknown = changed = 0
    for address, less in _without_each(memory):
        try:
            snapshot = _load(tmp_path / "less.mpirec", [*before, *less, *after])
        except mpi_queues.UserError as error:
            refused += 1
            assert "0x" in str(error) or "not in the recording" in str(error) or error.help, f"{address:#x}: {error}"
            continue
        (process,) = snapshot["processes"]
        if process == whole:
            continue
        changed += 1
        # Something is said, with the address and how to record it.
        said = "\n".join([*process["problems"], *snapshot["problems"]])
        assert re.search(r"0x[0-9a-f]+ are not in the recording.*record --full", said), f"{address:#x}: {said}"
        found = _by_handle(process)
        for handle, communicator in _by_handle(whole).items():
            for name in QUEUES:
                if handle not in found:
                    # A communicator that cannot be read is one of the problems.
                    continue
                queue = found[handle][name]
                if not _is_as_true(queue["operations"], communicator[name]["operations"]):
                    assert queue["state"] == "no_information", f"{address:#x}: {communicator['name']}: {queue['state']}"
                    unknown += 1
    assert refused and changed and unknown
