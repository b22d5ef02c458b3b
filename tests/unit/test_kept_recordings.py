"""Recordings that earlier versions made keep loading, and tell what their programs posted: no MPI, no debugger."""

from __future__ import annotations

import json
import re
import zlib
from pathlib import Path

import mpi_queues
import pytest
from recordings import keep
from support.compare import assert_equal
from support.handles import of_recording
from support.held import Held
from support.paths import PROJECT

FILES = sorted(keep.PLACE.glob("format-*/*.mpirec"))


def test_there_are_some_of_every_format_version() -> None:
    versions = {int(file.parent.name.removeprefix("format-")) for file in FILES}
    assert versions == set(range(1, keep.FORMAT + 1))
    source = (PROJECT / "crates" / "recording" / "src" / "frame.rs").read_text(encoding="utf-8")
    assert re.findall(r"pub const VERSION: u32 = (\d+);", source) == [str(keep.FORMAT)]
    assert {kept.file for kept in keep.KEPT} <= set(FILES)


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_a_kept_recording_tells_the_truth(file: Path) -> None:
    truth = json.loads(keep.truth_of(file).read_text(encoding="utf-8"))
    snapshot = json.loads(mpi_queues.load(file).to_json())
    assert snapshot["problems"] == []
    assert [process["rank"] for process in snapshot["processes"]] == sorted(map(int, truth))
    for process in snapshot["processes"]:
        assert process["source"]["via"] == "recording"
        if "handles" in truth[str(process["rank"])]:
            of_recording(truth[str(process["rank"])], file, process["rank"], Held())
            continue
        assert_equal(truth[str(process["rank"])], process, internal=True)
        call = truth[str(process["rank"])]["call"]
        assert call is None or call in [one["function"] for one in process["calls"]]


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_nothing_of_a_machine_is_in_a_kept_recording(file: Path) -> None:
    data = file.read_bytes()
    at = data.index(b"\n") + 1
    while at < len(data):
        length = int.from_bytes(data[at + 8 : at + 16], "little")
        text = zlib.decompress(data[at + 32 : at + 32 + length])
        for forbidden in (str(PROJECT), "/home/", "/root/"):
            assert forbidden.encode() not in text
        at += 32 + length
    assert str(PROJECT) not in keep.truth_of(file).read_text(encoding="utf-8")
