"""Damaged memory of interpreters of Python: copies of ranks of a correct mpi4py program, bytes or words replaced.

Only pages are damaged that are read of the whole process, some hundreds, so that much of the damage meets the readers.
What is told has a measure, and nobody is in a deadlock, whatever is damaged.
"""

from __future__ import annotations

import functools
import json
import random
import time
from typing import Any, Dict, Iterator, List, Optional, Sequence, Set, Tuple

from mpi_queues import NativeError, Snapshot
from mpi_queues._native import Session
from support import builds
from support.mock_process import stopped
from support.python_jobs import PythonJob

from .guarded import Run, guarded
from .memory import PAGE, Damage, DamagedProcess

SHORT = range(4)
LONG = range(400)
MPIS: Tuple[str, ...] = ()

#: Which part of the bytes or words of the pages is damaged.
PARTS = (0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.05)

#: Of what whole ranks tell nothing has more than this; damage does not make it grow without a measure.
MOST_FRAMES, MOST_CHARACTERS, MOST_NOTES = 2200, 4200, 40


class TracedProcess(DamagedProcess):
    """Of which is known what was read."""

    def __init__(self, pid: int) -> None:
        super().__init__(pid)
        self.pages: Set[int] = set()

    def read_memory(self, address: int, length: int) -> bytes:
        self.pages.update(range(address // PAGE * PAGE, address + length, PAGE))
        return super().read_memory(address, length)

    def may_be_damaged(self, pages: Set[int]) -> None:
        self._areas["python"] = [(page, page + PAGE) for page in sorted(pages)]


def runs(seeds: Sequence[int], mpi: Optional[str]) -> Iterator[Run]:
    """One run a seed."""
    for seed in seeds:
        yield _run(seed)


def _run(seed: int) -> Run:
    chance = random.Random(seed)
    ranks = _copied()
    words, part = chance.random() < 0.5, chance.choice(PARTS)
    damaged = chance.sample(range(len(ranks)), chance.randint(1, len(ranks)))
    damages = {rank: Damage(seed, rank, "python", words, part) for rank in damaged}
    what = f"{seed}: {100 * part:g} % of {'words' if words else 'bytes'} of what is read, ranks {damaged}"
    outcome = guarded(lambda: _look(ranks, damages))
    if outcome.value is None:
        return Run(what, tuple(outcome.problems), outcome.seconds, "ended")
    return Run(what, (*outcome.problems, *_untrue(outcome.value)), outcome.seconds, outcome.value["outcome"])


def _look(ranks: Sequence[TracedProcess], damages: Dict[int, Damage]) -> Dict[str, Any]:
    """Reads all ranks, some of them damaged, and diagnoses them."""
    read: List[Snapshot] = []
    for rank, process in enumerate(ranks):
        process.damage(damages.get(rank))
        try:
            read.append(Session(process).read(stacks=True))
        except NativeError as error:
            assert str(error), "an error without words"
    merged = Snapshot.merged(read)
    found = json.loads(merged.diagnose().to_json())
    known = [process for process in found["processes"] if _python(process)]
    found["outcome"] = f"{len(known)} of {len(ranks)}"
    return dict(found)


def _python(process: Dict[str, Any]) -> List[Dict[str, Any]]:
    return [frame for stack in process.get("stacks", []) for frame in stack["frames"] if frame.get("language")]


def _untrue(found: Dict[str, Any]) -> List[str]:
    wrong = []
    if found["verdict"]["state"] == "deadlock":
        wrong.append(f"nobody is in a deadlock: {found['verdict']['headline']}")
    for process in found["processes"]:
        frames, exceptions = _python(process), process.get("exceptions", [])
        texts = [
            str(one.get(member) or "") for one in (*frames, *exceptions) for member in ("function", "file", "name")
        ]
        lines = [one["line"] for one in (*frames, *exceptions) if one.get("line") is not None]
        if len(frames) > MOST_FRAMES or any(len(text) > MOST_CHARACTERS for text in texts):
            wrong.append(f"{len(frames)} frames, the longest text has {max(map(len, texts))} characters")
        if any(not 0 < line < 1 << 31 for line in lines):
            wrong.append(f"lines {lines}")
        if len(process["notes"]) > MOST_NOTES:
            wrong.append(f"{len(process['notes'])} notes")
        # Rank 0 alone handles one. Another type would have to come from damage that looks like one.
        if process["rank"] != 0 and exceptions:
            wrong.append(f"rank {process['rank']} handles nothing: {exceptions}")
    return wrong


@functools.cache
def _copied() -> Tuple[TracedProcess, ...]:
    """The ranks where they wait."""
    job = PythonJob(builds.debian(), "slow", ranks=3)
    try:
        time.sleep(1)
        with stopped(*job.pids):
            ranks = tuple(map(_of, job.pids))
    finally:
        job.end()
    whole = _look(ranks, {})
    assert not _untrue(whole) and whole["outcome"] == f"{len(ranks)} of {len(ranks)}", whole
    assert [len(one.get("exceptions", [])) for one in whole["processes"]] == [1, 0, 0]
    return ranks


def _of(pid: int) -> TracedProcess:
    """A copy, of which those pages may be damaged that are read."""
    process = TracedProcess(pid)
    Session(process).read(stacks=True)
    process.may_be_damaged(process.pages)
    return process
