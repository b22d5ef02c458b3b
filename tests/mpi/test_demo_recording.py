"""The recording that the package carries tells the story of demo.c as it is now, and nothing of a machine."""

from __future__ import annotations

import json
import re
import socket
import sys
import zlib
from pathlib import Path
from typing import Dict, Iterator, List

import mpi_queues
import pytest
from mpi_queues import Snapshot
from mpi_queues.cli import demo
from mpi_queues.system import advice
from mpi_queues.testing import assert_no_unexpected, assert_queue
from recordings import make
from support.builds import MpiBuild
from support.cli import mpi_queues as command_line
from support.paths import PROJECT

SOURCE = demo.SOURCE.read_text(encoding="utf-8").splitlines()
MADE: Dict[str, Dict[str, str]] = json.loads(make.MADE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def recorded() -> Snapshot:
    return mpi_queues.load(demo.RECORDING)


def test_every_recording_is_made_of_its_source_as_it_is() -> None:
    """Where this fails, a source has changed: type make recordings, and look at what has changed."""
    assert sorted(MADE) == sorted(make.name(recipe.file) for recipe in make.RECIPES)
    for recipe in make.RECIPES:
        noted = MADE[make.name(recipe.file)]
        assert noted["sha256"] == make.digest(recipe.file)
        assert noted["source"] == make.name(recipe.source)
        assert noted["source_sha256"] == make.digest(recipe.source)


def line_of(function: str) -> int:
    """Where a function of demo.c waits."""
    start = next(at for at, line in enumerate(SOURCE) if re.match(rf"static void {function}\(", line))
    return next(at for at in range(start, len(SOURCE)) if "MPI_Wait" in SOURCE[at]) + 1


def constants() -> Dict[str, int]:
    """The tags and the count that demo.c names."""
    (text,) = (line for line in SOURCE if line.startswith("enum"))
    return {name: int(value) for name, value in re.findall(r"(\w+) = (\d+)", text)}


def test_it_tells_what_the_source_posts(recorded: Snapshot) -> None:
    """Ranks, tags and lengths are those of demo.c."""
    named = constants()
    size = named["COUNT"] * 8
    assert recorded.problems == [] and [one.rank for one in recorded.processes] == list(range(demo.RANKS))
    halos = [process.communicator("halo") for process in recorded.processes]
    common = {"desired_length": size, "datatype": "MPI_DOUBLE", "count": named["COUNT"], "status": "pending"}
    assert_queue(
        halos[0].pending_receives,
        [{"desired_local_rank": 1, "desired_tag": named["TAG_RESULT"], "call": "MPI_Irecv", **common}],
    )
    assert_queue(
        halos[1].pending_receives,
        [{"desired_local_rank": 2, "desired_tag": named["TAG_HALO"], "call": "MPI_Irecv", **common}],
    )
    assert_queue(halos[1].unexpected_messages, [{"desired_local_rank": 2, "desired_tag": named["TAG_TYPO"]}])
    assert_queue(
        halos[2].pending_sends,
        [{"desired_local_rank": 1, "desired_tag": named["TAG_TYPO"], "call": "MPI_Issend", **common}],
    )
    for halo in (halos[0], halos[2]):
        assert_no_unexpected(halo)
    for process in recorded.processes:
        for communicator in process.communicators:
            if communicator.name != "halo":
                for queue in (communicator.pending_sends, communicator.pending_receives):
                    assert_queue(queue, [])
                assert_no_unexpected(communicator)


@pytest.mark.parametrize(("rank", "function"), list(enumerate(["collect_results", "receive_halo", "send_halo"])))
def test_it_knows_where_each_rank_stands(recorded: Snapshot, rank: int, function: str) -> None:
    (call,) = recorded.rank(rank).calls
    expected = {"function": "MPI_Wait", "caller": function, "file": "demo.c", "line": line_of(function)}
    assert {name: call[name] for name in expected} == expected


def test_nothing_of_a_machine_is_in_it() -> None:
    data = demo.RECORDING.read_bytes()
    assert len(data) < 320 * 1024
    texts = list(decompressed(data))
    assert any(b"demo.c" in text for text in texts) and any(b"node1" in text for text in texts)
    for forbidden in (str(PROJECT), str(Path.home()), socket.gethostname(), sys.prefix, "/home/", "/root/"):
        if len(forbidden) > 3:
            assert [forbidden for text in texts if forbidden.encode() in text] == []


def decompressed(data: bytes) -> Iterator[bytes]:
    """The body of each frame: 32 bytes of header, in which the length of the body stands at 8."""
    at = data.index(b"\n") + 1
    while at < len(data):
        length = int.from_bytes(data[at + 8 : at + 16], "little")
        yield zlib.decompress(data[at + 32 : at + 32 + length])
        at += 32 + length


def story(out: str) -> List[str]:
    """What the demo says, without what differs from run to run and from target to target.

    A live job is looked at twice, which a recording of one look cannot be.
    """
    text = out[out.index("Rank 0 of 3") : out.rindex("\n\n") + 1]
    text = re.sub(r"Between the two looks, .*:\n(?:  .*\n)+\n?", "", text)
    text = re.sub(r"pid \d+ on \S+, \S+", "pid P on HOST, PROGRAM", text)
    # The recording was made on Debian 12.
    text = re.sub(r"Open MPI \d[\d.]*", "Open MPI N", re.sub(r"profile:openmpi-\d[\d.]*", "profile:openmpi-N", text))
    text = re.sub(r"for a browser: \S+", "for a browser: PAGE", text)
    return re.sub(r"via \w+", "via V", text).rstrip().splitlines()


@pytest.mark.slow
def test_without_an_mpi_the_demo_tells_the_same_story(debian_mpi: MpiBuild, tmp_path: Path) -> None:
    real = command_line("demo", environment={"TMPDIR": str(tmp_path)})
    replayed = command_line("demo", environment={"PATH": str(tmp_path), "TMPDIR": str(tmp_path)})
    assert (real.status, replayed.status) == (0, 0), f"{real}\n{replayed}"
    assert story(replayed.out) == story(real.out)
    assert replayed.err == ""
    said = " ".join(replayed.out.split())
    assert "This machine has no mpicc, no mpirun, no gcc, no gdb or lldb" in said
    assert f"{advice.install('libopenmpi-dev openmpi-bin gcc gdb')}; mpi-queues demo" in said
    assert said.endswith("This was a recording: nothing was started.")
    (command,) = re.findall(r"^  mpi-queues (show --recording \S+)$", replayed.out, re.M)
    assert "Rank 0 of 3" in command_line(*command.split(), environment={"PATH": str(tmp_path)}).out
