"""Ctrl-C at any moment of a reading: the next one finds what is there, whatever the first had found by then."""

from __future__ import annotations

import json
from typing import Any, List, Optional, Sequence, Tuple

import pytest
from mpi_queues import Session
from mpi_queues.debuggers.base import ThreadRegisters, TypeDict
from support import builds
from support.jobs import Job
from support.mock_process import MockProcess, stopped

#: Moments at which a reading is interrupted, beside the first ones, in which the libraries and layouts are looked for.
FIRST, SPREAD = 60, 20


class Interrupted(MockProcess):
    """A process of which one question is answered by Ctrl-C."""

    def __init__(self, copied: MockProcess) -> None:
        self.__dict__.update(copied.__dict__)
        self.asked = 0
        self.at: Optional[int] = None

    def _ask(self) -> None:
        self.asked += 1
        if self.asked == self.at:
            raise KeyboardInterrupt

    @property
    def executable(self) -> Optional[str]:
        self._ask()
        return super().executable

    def read_memory(self, address: int, length: int) -> bytes:
        self._ask()
        return super().read_memory(address, length)

    def symbol(self, name: str) -> Optional[Tuple[int, Optional[int]]]:
        self._ask()
        return super().symbol(name)

    def images(self) -> Optional[List[Tuple[str, int]]]:
        self._ask()
        return super().images()

    def program_headers(self) -> Optional[Tuple[int, int]]:
        self._ask()
        return super().program_headers()

    def type_layout(self, name: str) -> Optional[TypeDict]:
        self._ask()
        return super().type_layout(name)

    def threads(self, names: Sequence[str]) -> List[ThreadRegisters]:
        self._ask()
        return super().threads(names)


def _read(session: Session) -> Any:
    return {**json.loads(session.read(handles=["comm"]).to_json()), "captured_at": None}


@pytest.mark.parametrize("build", [builds.DEBIAN, builds.DEBIAN_MPICH])
@pytest.mark.parametrize("again", [False, True], ids=["the first", "a later one"])
@pytest.mark.usual("the first-debian")
def test_nothing_remains_of_an_interrupted_reading(
    build: str, again: bool, request: pytest.FixtureRequest, preflight: None
) -> None:
    with Job(builds.BUILDS[build](), "truth_comms", ranks=2) as job, stopped(job.pids[0]):
        copied = MockProcess(job.pids[0])

    def begun() -> Tuple[Interrupted, Session]:
        process = Interrupted(copied)
        session = Session(process)
        if again:
            _read(session)
            session.invalidate()
        process.asked = 0
        return process, session

    process, session = begun()
    whole = _read(session)
    assert whole["processes"][0]["communicators"]
    count = process.asked
    step = 1 if request.config.getoption("--all") else max(1, count // SPREAD)
    moments = sorted({*range(1, min(FIRST, count) + 1), *range(1, count + 1, step)})
    for moment in moments:
        process, session = begun()
        process.at = moment
        with pytest.raises(KeyboardInterrupt):
            _read(session)
        assert process.asked == moment
        assert _read(session) == whole, f"interrupted at question {moment} of {count}"
