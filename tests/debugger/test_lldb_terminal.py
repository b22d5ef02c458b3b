"""lldb on a terminal, as a person uses it: completion, Ctrl-C, repeating."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import time
from typing import Iterator

import pytest
from debuggers import LLDB, LLDB_LOADER
from driver import Terminal
from support import builds
from support.builds import compile_with
from support.jobs import Job
from support.paths import PROGRAMS

PROMPT = "(lldb) "
_NUMBERS = itertools.count(1)

#: Ctrl-C comes so many seconds after the first command on a process: where symbols and layouts are still looked for.
MOMENTS = {"usual": [0.05, 0.2, 0.5], "long": [0.1 * step for step in range(20)]}


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    with started() as lldb:
        yield lldb


@contextlib.contextmanager
def started() -> Iterator[Terminal]:
    with Terminal(command=[LLDB, "--no-lldbinit", "--no-use-colors"], prompt=PROMPT) as lldb:
        lldb.run(f"command script import {LLDB_LOADER}")
        lldb.read_quiet()
        yield lldb


def attach(terminal: Terminal, pid: int) -> None:
    terminal.send(f"process attach -p {pid}\n")
    terminal.read_until("Architecture set to")
    terminal.read_quiet()


def typed(terminal: Terminal, command: str) -> str:
    """What a command prints, however long it takes. The line editor shows the prompt with each key: that tells nothing,
    and what the next command prints does."""
    number = next(_NUMBERS)
    terminal.send(f'{command}\nscript print("do" "ne", {number})\n')
    seen = terminal.read_until(f"done {number}")
    return seen + terminal.read_until(PROMPT, before=seen.rpartition(f"done {number}")[2])


def answered(terminal: Terminal, keys: str, wanted: str) -> str:
    """What is printed for some keys, up to the words that are wanted. lldb may drop what is typed while an interrupted
    command comes to its end, and Ctrl-C before a process runs: it is typed again, but not soon, since lldb ends itself
    at a Ctrl-C while it is at another one."""
    seen = ""
    for _ in range(5):
        terminal.send(keys)
        for _ in range(20):
            seen += terminal.read_quiet(1.0)
            if wanted in seen:
                return seen
    raise AssertionError(f"no {wanted!r} after {keys!r}: {seen[-2000:]!r}")


@pytest.mark.slow
def test_completion(terminal: Terminal, comms_job: Job) -> None:
    attach(terminal, comms_job.pids[0])
    assert "mpi queues" in terminal.complete("mpi qu")
    options = terminal.complete("mpi queues --")
    words = ("all", "comm", "compare", "format", "internal", "rank", "selected", "source")
    assert all(f"--{word}" in options for word in words)
    assert "mpi queues --format json" in terminal.complete("mpi queues --format j")
    assert "mpi queues -format json" in terminal.complete("mpi queues -format j")
    assert "mpi comms --source builtin" in terminal.complete("mpi comms --source b")
    assert "Traceback" not in terminal.complete("mpi queues --comm x")
    typed(terminal, "process detach")
    comms_job.assert_running()


@pytest.mark.slow
def test_ctrl_c_ends_a_plugin_that_hangs(terminal: Terminal, comms_job: Job) -> None:
    flags = ["-shared", "-fPIC", "-Wno-error", '-DVARIANT="sleep:mqs_setup_image"']
    path = compile_with(["cc"], "plugins", [PROGRAMS / "plugins" / "plugin.c"], flags)
    attach(terminal, comms_job.pids[0])
    terminal.send(f"mpi queues -source plugin={path}\n")
    terminal.read_quiet(1.5)
    terminal.send("\x03")
    seen = terminal.read_until("error: interrupted", timeout=20)
    assert "Traceback" not in seen
    answered(terminal, "mpi queues -comm MPI_COMM_WORLD\n", "Rank 0 of 2")
    typed(terminal, "process detach")
    comms_job.assert_running()


def test_ctrl_c_leaves_everything_consistent(terminal: Terminal, many_job: Job) -> None:
    attach(terminal, many_job.pids[0])
    typed(terminal, "mpi config limit unlimited")
    for wait in (0.0, 0.05, 0.2):
        terminal.send("mpi queues -comm MPI_COMM_WORLD -format json\n")
        terminal.read_quiet(wait)
        terminal.send("\x03")
        assert "Traceback" not in terminal.read_quiet(1.5)
    answered(terminal, "mpi queues -comm MPI_COMM_WORLD\n", "pending receives: 5,000")
    typed(terminal, "process detach")
    many_job.assert_running()


@pytest.mark.parametrize("build", [builds.DEBIAN, builds.DEBIAN_MPICH])
@pytest.mark.slow
def test_commands_work_after_ctrl_c(build: str, request: pytest.FixtureRequest, preflight: None) -> None:
    """What was looked for when Ctrl-C came is looked for again: nothing remains of it, whenever it came."""
    moments = MOMENTS["long" if request.config.getoption("--all") else "usual"]
    with Job(builds.BUILDS[build](), "truth_comms", ranks=2) as job:
        for moment in moments:
            with started() as lldb:
                attach(lldb, job.pids[0])
                lldb.send("mpi queues\n")
                time.sleep(moment)
                lldb.send("\x03")
                seen = lldb.read_quiet(1.5)
                seen += answered(lldb, "mpi comms\n", "MPI_COMM_SELF")
                lldb.send("continue\n")
                lldb.read_until("resuming")
                lldb.read_quiet()
                answered(lldb, "\x03", "stopped")
                seen += answered(lldb, "mpi comms\n", "MPI_COMM_SELF")
                assert "Traceback" not in seen and "does not show" not in seen, (moment, seen)
                typed(lldb, "process detach")
            job.assert_running()


@pytest.mark.slow
def test_where_a_process_stops_is_shown_on_another_thread(terminal: Terminal, comms_job: Job) -> None:
    """lldb tells of a stop on the thread that takes its events; a session of the core belongs to a thread."""
    attach(terminal, comms_job.pids[0])
    variable, thread = (
        "target variable truth_control",
        "script import os, threading; print('here', threading.get_native_id() == os.getpid())",
    )
    first = [typed(terminal, command) for command in (variable, "mpi comms", thread)]
    for command in (variable, "mpi comms", thread):
        terminal.run(f'target stop-hook add -o "{command}"')
    terminal.run("process handle -p false -s true -n true SIGUSR1")
    terminal.read_quiet()
    terminal.send("continue\n")
    terminal.read_until("resuming")
    terminal.read_quiet(1.0)
    # lldb keeps the signal from the process.
    os.kill(comms_job.pids[0], signal.SIGUSR1)
    stopped = terminal.read_until("here False", 30)
    last = [typed(terminal, command) for command in (variable, "mpi comms", thread)]
    for shown in ("".join(first), stopped, "".join(last)):
        assert '(MPI_Comm) truth_control = "control", rank 0 of 2\n' in shown
        assert "MPI_COMM_SELF" in shown
    assert "here True" in first[2] and "here True" in last[2]
    assert "panicked" not in terminal.run("detach")
    comms_job.assert_running()
