"""The limits of a debugger that reads for the command line: whatever it does, and whatever the disk does."""

from __future__ import annotations

import os
import pathlib
import threading
import time
from typing import Iterator, List, Optional

import pytest
from mpi_queues.debuggers import spool
from mpi_queues.debuggers.conversation import Progress, Reply, converse
from mpi_queues.debuggers.invocation import GdbLauncher
from mpi_queues.errors import UserError
from mpi_queues.system import processes
from mpi_queues.system.deadline import within
from support.processes import wait_until

#: What may come on top of a limit: a debugger is told to end before it is killed, and machines are busy.
MORE = 10.0


class Script(GdbLauncher):
    """A made-up debugger, which a shell runs."""

    def __init__(self, code: str) -> None:
        super().__init__("/bin/bash")
        self._code = code

    @property
    def command(self) -> List[str]:
        return [self.program, "-c", self._code]


@pytest.fixture
def noted(tmp_path: pathlib.Path) -> Iterator[pathlib.Path]:
    """A file to which made-up debuggers write their process ids: none of them is left."""
    file = tmp_path / "pids"
    yield file
    for pid in map(int, file.read_text().split()):
        wait_until(lambda pid=pid: processes.state(pid) in ("", "Z"), f"the end of {pid}", 5.0)  # type: ignore[misc]


def talk(
    noted: pathlib.Path,
    code: str,
    timeout: float,
    *,
    request: bytes = b"{}",
    cancelled: Optional[threading.Event] = None,
    progress: Optional[Progress] = None,
) -> Reply:
    script = Script(f"NOTED={noted}; echo $$ >> $NOTED; trap '' TERM; {code}")
    return converse(script, request, timeout, cancelled or threading.Event(), lambda piece: None, progress=progress)


FOREVER = "while :; do sleep 0.05; done"
#: A child with a process group of its own, as lldb's server is.
CHILD = "set -m; sleep 30 & echo $! >> $NOTED; " + FOREVER
DRIP = "while :; do echo x >&$MPI_QUEUES_RESULT_FD; sleep 0.05; done"


@pytest.mark.parametrize("code", [FOREVER, DRIP, "kill -STOP $$", CHILD])
def test_no_debugger_takes_longer_than_the_limit(noted: pathlib.Path, code: str) -> None:
    started = time.monotonic()
    reply = talk(noted, code, 1.0)
    assert reply.answer is None and not reply.whole
    assert 1.0 <= time.monotonic() - started < 1.0 + MORE


def test_signs_of_life_do_not_prolong_it_for_ever(noted: pathlib.Path) -> None:
    seen: List[None] = []

    def another() -> object:
        seen.append(None)
        return len(seen)

    started = time.monotonic()
    reply = talk(noted, DRIP, 2.0, progress=Progress(another, 1.0))
    assert 2.0 <= time.monotonic() - started < 2.0 + MORE
    # What came until then is kept.
    assert not reply.whole and reply.answer is not None
    with reply.answer:
        assert reply.answer.read().startswith(b"x\nx\n")


def test_one_that_gets_on_with_nothing_is_ended_earlier(noted: pathlib.Path) -> None:
    started = time.monotonic()
    reply = talk(noted, DRIP, 60.0, progress=Progress(lambda: None, 1.0))
    assert not reply.whole and time.monotonic() - started < 1.0 + MORE
    if reply.answer is not None:
        reply.answer.close()


def test_a_request_that_nobody_reads_keeps_nobody(noted: pathlib.Path) -> None:
    started, cancelled = time.monotonic(), threading.Event()
    threading.Timer(0.5, cancelled.set).start()
    reply = talk(noted, FOREVER, 60.0, request=b"x" * (1 << 22), cancelled=cancelled)
    assert reply.answer is None and time.monotonic() - started < 0.5 + MORE


def test_a_long_request_arrives_whole(noted: pathlib.Path) -> None:
    reply = talk(noted, "wc -c <&$MPI_QUEUES_REQUEST_FD >&$MPI_QUEUES_RESULT_FD", 60.0, request=b"x" * (1 << 22))
    assert reply.whole and reply.answer is not None
    with reply.answer:
        assert int(reply.answer.read()) == 1 << 22


def test_a_full_disk_ends_the_debugger_at_once(noted: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "temporary_file", lambda directory: open("/dev/full", "wb"))  # noqa: SIM115 - the spool's
    started = time.monotonic()
    with pytest.raises(OSError, match="No space left"):
        talk(noted, "while :; do printf %65536s; done >&$MPI_QUEUES_RESULT_FD", 60.0)
    assert time.monotonic() - started < MORE


def test_a_disk_that_does_not_answer_keeps_nobody(noted: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    monkeypatch.setattr(spool, "temporary_file", lambda directory: os.fdopen(os.dup(writing), "wb"))
    started = time.monotonic()
    with pytest.raises(TimeoutError, match="the disk does not take"):
        talk(noted, "printf %1000000s >&$MPI_QUEUES_RESULT_FD", 2.0)
    assert time.monotonic() - started < 4.0 + MORE
    # The thread waits for its disk as long as that takes; this one fails, as nobody reads any more.
    os.close(reading)
    os.close(writing)


def test_what_takes_too_long_is_left_alone() -> None:
    started, end = time.monotonic(), threading.Event()
    with pytest.raises(UserError, match=r"finding it: not done within 0\.3 seconds") as caught:
        within(0.3, "finding it", lambda: end.wait(30))
    assert caught.value.kind == "timeout" and "--timeout" in caught.value.help
    assert time.monotonic() - started < MORE
    end.set()
    assert within(30, "it", lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        within(30, "it", lambda: 1 // 0)


def test_a_debugger_leaves_memory_to_the_ranks(noted: pathlib.Path) -> None:
    reply = talk(noted, "sleep 0.5; ulimit -d >&$MPI_QUEUES_RESULT_FD", 30.0)
    assert reply.answer is not None
    free = processes.free_memory()
    assert 0 < free <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with reply.answer as answer:
        # In KiB; what is free changes from moment to moment.
        assert 2 << 20 <= int(answer.read()) <= max(2 << 20, (free >> 10) * 3 // 4)


def test_of_what_a_debugger_says_only_the_end_is_kept(noted: pathlib.Path) -> None:
    reply = talk(noted, "for i in {1..40000}; do echo \"line $i of many\" >&2; done; echo 'the \a end'; exit 3", 30.0)
    assert reply.answer is not None
    reply.answer.close()
    assert reply.status == 3 and reply.whole
    assert reply.chatter.endswith("line 40000 of many\nthe ? end")
    assert len(reply.chatter) <= 4000


def test_a_child_that_keeps_the_output_open_is_not_waited_for(noted: pathlib.Path) -> None:
    started = time.monotonic()
    reply = talk(noted, "echo said; sleep 30 >&2 2>&2 & echo $! >> $NOTED; exit 0", 20.0)
    assert reply.answer is not None
    reply.answer.close()
    assert reply.chatter == "said"
    assert time.monotonic() - started < MORE
