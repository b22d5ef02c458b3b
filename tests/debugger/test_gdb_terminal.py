"""gdb on a terminal, as a person uses it: completion, paging, Ctrl-C."""

from __future__ import annotations

from typing import Iterator

import pytest
from driver import LOADER, PROMPT, Terminal
from support.jobs import Job


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    with Terminal(rows=24) as gdb:
        gdb.run(f"source {LOADER}")
        yield gdb


@pytest.mark.slow
def test_completion(terminal: Terminal, comms_job: Job) -> None:
    terminal.run("set pagination off")
    terminal.run(f"attach {comms_job.pids[0]}")
    assert "mpi queues" in terminal.complete("mpi qu")
    options = terminal.complete("mpi queues -")
    assert all(
        word in options for word in ("all", "comm", "compare", "format", "internal", "rank", "selected", "source")
    )
    assert "mpi queues -format json" in terminal.complete("mpi queues -format j")
    assert "mpi queues -format=json" in terminal.complete("mpi queues -format=j")
    assert "mpi queues -comm MPI_COMM_WORLD" in terminal.complete("mpi queues -comm MPI_COMM_W")
    assert "mpi queues -rank 0" in terminal.complete("mpi queues -rank ")
    assert "mpi plugin load" in terminal.complete("mpi plugin l")
    assert "mpi help queues" in terminal.complete("mpi help q")
    assert "set mpi source builtin" in terminal.complete("set mpi source b")
    assert "plugin-path" in terminal.complete("show mpi p")
    terminal.run("detach")
    comms_job.assert_running()


@pytest.mark.slow
def test_completion_without_a_process_is_quiet(terminal: Terminal) -> None:
    seen = terminal.complete("mpi queues -comm x")
    assert "Traceback" not in seen
    assert "Error" not in seen


@pytest.mark.slow
def test_long_output_is_paged_and_q_ends_it(terminal: Terminal, many_job: Job) -> None:
    terminal.run("set pagination off")
    terminal.run(f"attach {many_job.pids[0]}")
    terminal.run("set pagination on")
    terminal.run("set height 20")
    terminal.send("mpi queues\n")
    first = terminal.read_until("--Type <RET> for more, q to quit, c to continue without paging--")
    assert first.count("\n") <= 21
    terminal.send("q\n")
    seen = terminal.read_until(PROMPT)
    assert "Traceback" not in seen
    assert "Python Exception" not in seen
    terminal.run("set height 0")
    again = terminal.run("mpi queues -comm MPI_COMM_WORLD")
    assert "pending receives: 5,000" in again
    assert "1 process, " in again
    terminal.run("detach")
    many_job.assert_running()


@pytest.mark.slow
def test_ctrl_c_ends_the_output_and_leaves_everything_consistent(terminal: Terminal, many_job: Job) -> None:
    terminal.run("set pagination off")
    terminal.run(f"attach {many_job.pids[0]}")
    terminal.run("set mpi limit unlimited")
    whole = terminal.run("mpi queues -comm MPI_COMM_WORLD -format json")
    for _ in range(3):
        terminal.send("mpi queues -comm MPI_COMM_WORLD -format json\n")
        terminal.read_until('"pending_receives"')
        terminal.send("\x03")
        seen = terminal.read_until(PROMPT)
        assert "Traceback" not in seen
        terminal.read_quiet(0.2)
    assert "5,000" in terminal.run("mpi queues -comm MPI_COMM_WORLD").replace("5000", "5,000")
    assert len(terminal.run("mpi queues -comm MPI_COMM_WORLD -format json")) == len(whole)
    assert "= 0" in terminal.run("print $_mpi_rank()")
    terminal.run("detach")
    many_job.assert_running()


def test_the_return_key_does_not_repeat_a_command(terminal: Terminal, comms_job: Job) -> None:
    terminal.run("set pagination off")
    terminal.run(f"attach {comms_job.pids[0]}")
    assert "1 process" in terminal.run("mpi queues")
    assert terminal.run("").strip() == PROMPT.strip()
    terminal.run("detach")
    comms_job.assert_running()
