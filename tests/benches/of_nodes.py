"""Jobs of many nodes: from what all agents send to the printed diagnosis, in a process of its own.

The digests are made up from a real job of 8 ranks (``crates/model/examples/digests.rs``).
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import tempfile
import time
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterable, List, Tuple

from mpi_queues import jobs
from mpi_queues._native import AGENT_PROTOCOL
from support.builds import MpiBuild, compile_program
from support.cli import mpi_queues, pid_options

_ROOT = Path(__file__).resolve().parents[2]
_FRONT = Path(__file__).with_name("front_of_nodes.py")

#: Ranks of a node, and how many nodes.
_RANKS = 128
_NODES = (10, 100, 1000)

#: As ``crates/agent/src/node/frame.rs`` has it.
_PIECE = 648

#: Ranks run on for so long between two looks, in seconds.
_BETWEEN = 0.5

#: The best of so many counts: others may use the machine.
_RUNS = 3


@dataclass
class Measured:
    """A front: seconds by the clock, those of its processor, and its memory at the most, in MiB."""

    seconds: float
    busy: float
    megabytes: float
    out: str


def frames(kind: str, look: int, body: bytes) -> Iterable[bytes]:
    packed = zlib.compress(body)
    pieces = [packed[at : at + _PIECE] for at in range(0, len(packed), _PIECE)]
    for number, piece in enumerate(pieces, 1):
        text = base64.b64encode(piece)
        yield b"mq1 %s %d %d %d %08x %s" % (kind.encode(), look, number, len(pieces), zlib.crc32(piece), text)


def make_up(snapshot: str, nodes: int, directory: Path) -> int:
    """What the agents of so many nodes send: a file for the beginning and for each look.

    Returns the bytes of the first look of a node.
    """
    cargo = subprocess.run([str(_ROOT / "tools/find-cargo")], capture_output=True, text=True, check=True).stdout.strip()
    command = [cargo, "run", "--quiet", "--release", "--package", "mpi-queues-model", "--example", "digests", "--"]
    subprocess.run(
        [*command, str(nodes), str(_RANKS), str(directory)], cwd=_ROOT, input=snapshot, text=True, check=True
    )
    sizes = []
    for look in (0, 1, 2):
        with (directory / str(look)).open("wb") as out:
            for node in range(nodes):
                lines = list(_answer(directory, node, look))
                sizes.append(sum(len(line) + 1 for line in lines) if look == 1 else 0)
                out.writelines(b"node%d: %s\n" % (node, line) for line in lines)
    return max(sizes)


def _answer(directory: Path, node: int, look: int) -> Iterable[bytes]:
    def told(**content: Any) -> bytes:
        return json.dumps(content).encode()

    if look == 0:
        hello = told(agent="0.1.0", protocol=AGENT_PROTOCOL, host=f"node{node}", node=None, pid=1)
        yield from frames("hello", 0, hello)
        return
    took = told(
        asked_at=1e9 + node / 1e4, seconds=0.1, ranks=_RANKS, moving=[], hungry=[], denied=0, ran_ms=500 * (look - 1)
    )
    yield from frames("told", look, took)
    digest = directory / f"{node}.{look}"
    yield from frames("digest", look, digest.read_bytes())
    digest.unlink()


def measured(directory: Path, nodes: int, *words: str) -> Measured:
    """One front."""
    command = [sys.executable, str(_FRONT), str(directory), str(nodes), *words]
    with tempfile.TemporaryFile("w+") as out:
        begun = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begun
        assert os.waitstatus_to_exitcode(status) == 0, f"{command} ended with {status}"
        out.seek(0)
        return Measured(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, out.read())


def snapshot_of(build: MpiBuild, scene: str) -> str:
    """What is read of a small job that hangs."""
    program = compile_program(build, "large_job")
    with jobs.Job(program, ranks=8, args=[scene], launcher=build.mpirun, options=build.options, timeout=180) as job:
        time.sleep(2)
        result = mpi_queues("diagnose", *pid_options(job.pids), "--once", "--format", "json")
    assert result.status == 0, str(result)
    return result.out


def figure_nodes(build: MpiBuild) -> List[Tuple[str, str, str, bool]]:
    rows = []
    for scene in ("tag", "halo"):
        snapshot = snapshot_of(build, scene)
        for nodes in _NODES:
            with tempfile.TemporaryDirectory() as name:
                size = make_up(snapshot, nodes, Path(name))
                for looks, words, waits in (("one look", ["--once"], 0.0), ("two looks", [], _BETWEEN)):
                    runs = [measured(Path(name), nodes, *words) for _ in range(_RUNS)]
                    rows.append(_row(f"{nodes:,} nodes x {_RANKS} ranks, {scene}, {looks}", runs, size, waits, nodes))
    return rows


def _row(what: str, runs: List[Measured], size: int, waits: float, nodes: int) -> Tuple[str, str, str, bool]:
    best = min(runs, key=lambda one: one.seconds)
    assert "tag" in best.out, best.out
    megabytes = max(one.megabytes for one in runs)
    beyond = " beyond the half second between looks" if waits else ""
    last = nodes == _NODES[-1]
    return (
        f"{what}: gathered, merged, diagnosed, printed",
        f"{best.seconds - waits:.2f} s{beyond}, {best.busy:.2f} s busy, {megabytes:.0f} MiB; "
        f"a node's first look {size / 1024:.0f} KiB",
        "at most 5 s and 1,024 MiB" if last else "(not asked for)",
        not last or (best.seconds - waits <= 5 and megabytes <= 1024),
    )
