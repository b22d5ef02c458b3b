"""Damaged memory of MPI processes: copies of what live ranks of correct programs had, with bytes or words replaced.

The ranks stand still while they are copied and are not touched. Of each seed follow: which program, which ranks are
damaged, bytes or words, 0.003 to 5 % of them, the heap or all writable memory, and whether a session reads the process
first while it is whole (late) or not (early). What is read is diagnosed: nobody is in a deadlock, whatever is damaged.
"""

from __future__ import annotations

import functools
import json
import random
import struct
import time
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from mpi_queues import NativeError, Snapshot
from mpi_queues._native import Session
from mpi_queues.system import mappings
from support import builds
from support.diagnosis import Program, load
from support.mock_process import MAX_MAPPING, MockProcess, stopped
from support.paths import PROGRAMS

from .guarded import Run, guarded

SHORT = range(1)
LONG = range(250)
MPIS = ("openmpi", "mpich")

#: Correct programs in which ranks wait, with messages, requests and communicators.
FINE = ("one_sleeps", "backlog", "late_in_collective", "threads_compute")

#: Which part of the bytes or words is damaged, from nearly nothing to more than any list survives.
PARTS = (0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.05)

#: Kinds of handles that are listed as well.
HANDLES = ["comm", "datatype", "group", "request", "op", "errhandler", "info", "win"]

PAGE = 4096


@dataclass(frozen=True)
class Copied:
    """The ranks of one job as they were at one moment."""

    program: Program
    ranks: Tuple[DamagedProcess, ...]


class DamagedProcess(MockProcess):
    """A copied process some of whose bytes are other ones, page by page as they are read."""

    def __init__(self, pid: int) -> None:
        self._areas: Dict[str, List[Tuple[int, int]]] = {"heap": [], "all": []}
        self._damage: Optional[Damage] = None
        super().__init__(pid)
        for region in mappings.of_process(pid) or []:
            # Arguments of calls are read from stacks: damaged, they are another program's.
            if not region.is_writable or region.length > MAX_MAPPING or region.name == b"[stack]":
                continue
            self._areas["all"].append((region.start, region.end))
            if region.name in (b"[heap]", b""):
                self._areas["heap"].append((region.start, region.end))

    def damage(self, how: Optional[Damage]) -> None:
        self._damage = how
        self._pages: Dict[int, bytes] = {}

    def read_memory(self, address: int, length: int) -> bytes:
        content = super().read_memory(address, length)
        if self._damage is None:
            return content
        first, last = address // PAGE * PAGE, address + length
        if not any(start < last and first < end for start, end in self._areas[self._damage.area]):
            return content
        pieces = []
        for page in range(first, last, PAGE):
            pieces.append(self._page(page)[max(address - page, 0) : last - page])
        return b"".join(pieces)

    def _page(self, page: int) -> bytes:
        assert self._damage is not None
        if page not in self._pages:
            bytes_ = super().read_memory(page, PAGE)
            hit = any(start <= page < end for start, end in self._areas[self._damage.area])
            self._pages[page] = self._damage.of_page(page, bytes_) if hit else bytes_
        return self._pages[page]


@dataclass(frozen=True)
class Damage:
    """What is done to memory; the same for the same seed."""

    seed: int
    rank: int
    area: str
    words: bool
    part: float

    def of_page(self, page: int, content: bytes) -> bytes:
        chance = random.Random(f"{self.seed} {self.rank} {page}")
        out = bytearray(content)
        size = 8 if self.words else 1
        places = len(out) // size
        expected = places * self.part
        count = int(expected) + (chance.random() < expected % 1)
        for place in chance.sample(range(places), min(count, places)):
            at = place * size
            out[at : at + size] = self._word(chance, out[at : at + size]) if self.words else chance.randbytes(1)
        return bytes(out)

    @staticmethod
    def _word(chance: random.Random, old: bytes) -> bytes:
        """Anything, or what hurts: lengths that are too large, addresses nearby, halves."""
        (value,) = struct.unpack("<Q", old)
        kind = chance.randrange(8)
        if kind == 0:
            value = 0
        elif kind == 1:
            value = chance.choice((0x7FFF_FFFF, 1 << 20, 1 << 31, (1 << 64) - 1, 1 << 34, 0x7FFF_FFFF_0000_0001))
        elif kind == 2:
            value = value + chance.choice((-64, -8, -1, 1, 8, 64, 4096))
        elif kind == 3:
            value = chance.randrange(1 << 12)
        elif kind == 4:
            value = value & 0xFFFF_FFFF | chance.choice((1, 0x7FFF_FFFF, 1 << 20)) << 32
        elif kind == 5:
            value = value & ~0xFFFF_FFFF | chance.choice((1, 0x7FFF_FFFF, 1 << 20, chance.randrange(1 << 32)))
        else:
            value = chance.randrange(1 << 64)
        return struct.pack("<Q", value & (1 << 64) - 1)


def runs(seeds: Sequence[int], mpi: Optional[str]) -> Iterator[Run]:
    """One run a seed."""
    for seed in seeds:
        yield _run(seed, mpi or MPIS[0])


def _run(seed: int, mpi: str) -> Run:
    chance = random.Random(seed)
    name = FINE[seed % len(FINE)]
    copied = _copied(name, mpi)
    words, area, late = chance.random() < 0.5, chance.choice(("heap", "all")), chance.random() < 0.5
    part, damaged = chance.choice(PARTS), chance.randrange(len(copied.ranks) + 1)
    # One rank, or all of them.
    ranks = range(len(copied.ranks)) if damaged == len(copied.ranks) else [damaged]
    damages = {rank: Damage(seed, rank, area, words, part) for rank in ranks}
    unit, when = "words" if words else "bytes", "late" if late else "early"
    what = f"{seed}: {name}, {100 * part:g} % of {unit} of {area} memory, ranks {list(ranks)}, {when}"
    outcome = guarded(lambda: _look(copied, damages, late))
    problems = list(outcome.problems)
    if outcome.value is None:
        return Run(what, tuple(problems), outcome.seconds, "ended")
    problems += copied.program.untrue(outcome.value)
    return Run(what, tuple(problems), outcome.seconds, outcome.value["outcome"])


def _look(copied: Copied, damages: Dict[int, Damage], late: bool) -> Dict[str, Any]:
    """Reads all ranks of the copy, some of them damaged, and diagnoses them."""
    read: List[Snapshot] = []
    refused = 0
    for rank, process in enumerate(copied.ranks):
        session = Session(process)
        if late:
            session.read()
            session.invalidate()
        process.damage(damages.get(rank))
        for _ in range(2):
            # The second time what is remembered of the first is used.
            try:
                snapshot = session.read(handles=HANDLES)
            except NativeError as error:
                assert str(error), "an error without words"
                snapshot = None
        if snapshot is None:
            refused += 1
        else:
            read.append(snapshot)

    merged = Snapshot.merged(read)
    found = json.loads(merged.diagnose().to_json())
    found["outcome"] = "read" if not refused else "refused"
    return dict(found)


@functools.cache
def _copied(name: str, mpi: str) -> Copied:
    """The ranks of a correct program where they wait."""
    build = builds.debian_mpich() if mpi == "mpich" else builds.debian()
    program = load(PROGRAMS / "fine" / f"{name}.c", build.is_mpich)
    assert program is not None, name
    with program.start(build) as job:
        # Those that wait have come to where they wait, and their messages have arrived.
        time.sleep(1)
        with stopped(*job.pids):
            ranks = tuple(map(DamagedProcess, job.pids))
    whole = Copied(program, ranks)
    found = _look(whole, {}, late=False)
    assert found["outcome"] == "read" and not program.untrue(found), found["verdict"]
    return whole
