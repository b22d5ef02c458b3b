"""Ranks under the flight recorder that are killed, or dumped, at random moments: their core files are read."""

from __future__ import annotations

import json
import random
import signal
import time
from pathlib import Path
from typing import Any, Dict, List, Optional

import pytest
from support import cores, priority, recorder
from support.builds import MpiBuild
from support.cli import Result, mpi_queues
from support.recorder import Job, Record
from support.under_recorder import environment_of, under

#: A moment is so many seconds after ranks have begun, at most.
LATEST = 0.5

#: What ends a process with a core file: by itself, by its own hands (abort), and by Open MPI's, which writes a stack
#: before. Without a signal gdb dumps it, and it goes on.
SIGNALS: List[Optional[signal.Signals]] = [None]
if cores.KERNEL_WRITES_FILES:
    SIGNALS += [signal.SIGSYS, signal.SIGABRT, signal.SIGSEGV]

#: Moments of each; the first of them in every test run.
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))]


def _name(number: Optional[signal.Signals]) -> str:
    return number.name if number is not None else "gcore"


def _dumped(pid: int, directory: Path, number: Optional[signal.Signals], choose: random.Random) -> Path:
    time.sleep(choose.uniform(0.0, LATEST))
    return cores.gcore(pid, directory / "core") if number is None else cores.kernel_core(pid, directory, number)


def _shown(core: Path, program: str) -> Result:
    result = mpi_queues("show", "--core", str(core), "--exe", program, "--format", "json")
    assert result.status in (0, 1, 3), str(result)
    assert "Traceback" not in result.err and "panicked" not in result.err, str(result)
    return result


def _process(result: Result) -> Dict[str, Any]:
    (process,) = json.loads(result.out)["processes"]
    found: Dict[str, Any] = process
    # At some moments the library is changing its list of receives: that it does not agree with itself is told then.
    if result.status != 0:
        said = result.err.splitlines()
        assert result.status == 1 and said and all("are not in their list" in line for line in said), str(result)
    return found


def _assert_history(history: Dict[str, Any], record: Record) -> None:
    """What is told is what lies in the record, by the reader of the tests."""
    thread, own = history["threads"][0], record.threads[0]
    assert (thread["begun"], thread["current"] or 0, thread["kernel_thread"]) == (own.calls, own.current, own.id)
    calls = {call.number: call for call in record.calls[0]}
    assert thread["calls"], thread
    for told in thread["calls"]:
        call = calls[told["number"]]
        wanted = (call.function, call.tag if call.tag >= 0 else None, call.count)
        assert (told["function"], told.get("tag"), told["count"]) == wanted
    requests = {(one.request, one.function, one.tag, one.count) for one in record.requests}
    assert {(int(r["request"], 16), r["function"], r["tag"], r["count"]) for r in history["requests"]} == requests


@pytest.mark.parametrize("number", SIGNALS, ids=_name)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.usual("debian-0-gcore")
def test_a_core_of_any_moment_tells_the_history(
    any_mpi: MpiBuild, number: Optional[signal.Signals], seed: int, tmp_path: Path
) -> None:
    choose = random.Random(seed)
    program = recorder.compiled(any_mpi, "busy.c")
    with Job(any_mpi, program, ranks=1, cwd=tmp_path) as job:
        core = _dumped(job.pids[0], tmp_path, number, choose)
    process = _process(_shown(core, str(program)))
    record = recorder.of_core(core)
    _assert_history(process["history"], record)
    # What the program gives to each call follows from its tag.
    for call in process["history"]["threads"][0]["calls"]:
        if call["function"] in ("MPI_Irecv", "MPI_Isend"):
            assert call["count"] == call["tag"] % 64
    # A part of it, as a full disk leaves it, is read or refused.
    content = core.read_bytes()
    for _ in range(3):
        part = tmp_path / "part"
        part.write_bytes(content[: choose.randrange(len(content))])
        _shown(part, str(program))


@pytest.mark.parametrize("number", SIGNALS, ids=_name)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.usual("mpich-debian-0-gcore")
def test_a_core_of_a_job_that_does_everything(
    any_mpi: MpiBuild, number: Optional[signal.Signals], seed: int, tmp_path: Path
) -> None:
    """Communicators, windows, files and requests are made and freed all the time: some are half made."""
    choose = random.Random(seed)
    program = recorder.compiled(any_mpi, "results.c")
    with priority.Job(
        program,
        ranks=3,
        args=[str(tmp_path), str(seed), "1000000", "finalize"],
        launcher=under(any_mpi, tmp_path).mpirun,
        env=environment_of(any_mpi),
        timeout=180,
        cwd=tmp_path,
    ) as job:
        core = _dumped(job.pids[choose.randrange(3)], tmp_path, number, choose)
    process = _process(_shown(core, str(program)))
    history = process["history"]
    assert history is not None, process["problems"]
    numbers = [call["number"] for call in history["threads"][0]["calls"]]
    assert numbers == sorted(numbers) and numbers
    names = [one.get("name") for one in history["communicators"]]
    assert "MPI_COMM_WORLD" in names, names
