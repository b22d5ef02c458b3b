"""A reading ends, whatever reads: in a lock, in a loop, or holding Python's own lock."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import Callable, Iterator, List, Optional, Sequence, Tuple

import pytest
from mpi_queues import _native
from mpi_queues.errors import UserError
from mpi_queues.request import Request
from mpi_queues.system import watchdog
from mpi_queues.system.deadline import within
from mpi_queues.targets import process, reading, worker
from mpi_queues.targets.answer import Answer
from mpi_queues.targets.process import PidTarget


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_SLACK", 0.1)
    monkeypatch.setattr(worker, "_ENDING", 0.1)
    monkeypatch.setattr(worker, "_left_behind", False)


def _lock() -> None:
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def _loop() -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        pass


@pytest.mark.parametrize("stands", [_lock, _loop])
def test_what_stands_is_left_behind(stands: Callable[[], None]) -> None:
    told: List[str] = []

    def work(asker: worker.Asker) -> None:
        asker.part(0.2)
        asker.tell(lambda: told.append("one is read"))
        stands()

    started = time.monotonic()
    with pytest.raises(worker.Late):
        worker.run(work)
    assert time.monotonic() - started < 5
    assert told == ["one is read"]
    assert worker.left_behind()
    assert _native.Watchdog(1.0, 1.0).signals() is not None
    # The next reading has a thread of its own.
    worker.run(lambda asker: asker.tell(lambda: told.append("again")))
    assert told == ["one is read", "again"]


def test_errors_are_raised_where_they_are_waited_for() -> None:
    def work(asker: worker.Asker) -> None:
        raise ValueError("damaged")

    with pytest.raises(ValueError, match="damaged"):
        worker.run(work)
    assert not worker.left_behind()


def test_a_part_that_begins_has_its_own_time() -> None:
    def work(asker: worker.Asker) -> None:
        for _ in range(4):
            asker.part(2.0)
            time.sleep(0.7)

    worker.run(work)
    assert not worker.left_behind()


_STANDS = """
import ctypes, signal
from mpi_queues.targets import worker
from mpi_queues.system import watchdog
from mpi_queues.system.deadline import within
watchdog.GRACE = 1.0
worker._SLACK = 0.1

def work(asker):
    asker.part({part})
    asker.tell(lambda: print("begun", flush=True))
    import time
    time.sleep(0.3)
    # A function of C that is called so holds Python's lock.
    ctypes.PyDLL(None).sleep(1000)

# Python writes a signal's number where it has a function for it.
signal.signal(signal.SIGTERM, signal.default_int_handler)
with watchdog.over_command():
    worker.run(work)
"""


def _standing(part: float) -> subprocess.Popen[str]:
    script = _STANDS.format(part=part)
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "begun\n"
    return child


def test_a_command_ends_though_python_itself_stands() -> None:
    child = _standing(0.5)
    _, said = child.communicate(timeout=30)
    assert child.returncode == 1
    assert "mpi-queues: reading did not finish within 0." in said and "The processes run on" in said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_then_too(number: signal.Signals) -> None:
    child = _standing(1000)
    time.sleep(0.6)
    os.kill(child.pid, number)
    _, said = child.communicate(timeout=30)
    assert child.returncode == 128 + number
    assert "mpi-queues: interrupted; the processes run on" in said


def test_processes_go_on_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: List[float] = []

    class Noted:
        def renew(self, limit: float, grace: float) -> None:
            limits.append(limit)

        def stop(self) -> None:
            limits.append(-1.0)

    monkeypatch.setattr(watchdog._native, "Watchdog", lambda limit, grace: Noted())
    worker.run(lambda asker: asker.part(7.0))
    assert len(limits) == 2 and 6.5 < limits[0] < 7.5 and limits[1] == -1.0


def test_the_others_are_read_without_the_one_that_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    targets = [PidTarget(pid) for pid in (101, 102, 103)]
    rounds: List[List[int]] = []

    class Group:
        def __init__(
            self, group: Sequence[PidTarget], request: Request, begin: Callable[[Optional[PidTarget]], None]
        ) -> None:
            rounds.append([target.pid for target in group])
            self.group, self.begin = group, begin

        def read(self) -> Iterator[Tuple[PidTarget, Answer]]:
            for target in self.group:
                self.begin(target)
                if target.pid == 102:
                    _lock()
                yield target, Answer(target, target.pid)
            self.begin(None)

    monkeypatch.setattr(process, "Group", Group)
    monkeypatch.setattr(process.attaching, "check_readable", lambda pid: None)
    answers = reading.read_all(targets, Request(action="read", timeout=3.0))
    assert rounds == [[101, 102, 103], [103]]
    assert [answer.told for answer in answers] == [101, None, 103]
    error = answers[1].error
    assert error is not None and error.kind == "timeout" and "pid 102: not read within 3 seconds" in str(error)


def test_what_is_looked_for_too_long_is_left_alone() -> None:
    started, end = time.monotonic(), threading.Event()
    with pytest.raises(UserError, match=r"finding it: not finished within 0\.3 seconds") as caught:
        within(0.3, "finding it", lambda: end.wait(30))
    assert caught.value.kind == "timeout" and "--timeout" in caught.value.help
    assert time.monotonic() - started < 10
    end.set()
    assert within(30, "it", lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        within(30, "it", lambda: 1 // 0)
