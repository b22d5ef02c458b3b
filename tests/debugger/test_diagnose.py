"""``mpi-queues diagnose`` and ``mpi diagnose`` on real jobs and recordings. Truth is what demo.c says that it posts."""

from __future__ import annotations

import json
import os
import pathlib
import re
import signal
import subprocess
from typing import Any, Dict, Iterator, List

import mpi_queues as package
import pytest
from debuggers import DEBUGGERS, Gdb
from mpi_queues.cli import command_line as cli
from mpi_queues.cli import demo, diagnose
from mpi_queues.jobs import Job
from recordings import keep
from support import processes
from support.builds import MpiBuild
from support.cli import mpi_queues, pid_options
from support.paths import MPI_QUEUES

SOURCE = demo.SOURCE.read_text(encoding="utf-8").splitlines()
KEPT = sorted(keep.PLACE.glob("format-*/*.mpirec"))


def line_of(function: str) -> int:
    """Where a function of demo.c waits."""
    start = next(at for at, line in enumerate(SOURCE) if re.match(rf"static void {function}\(", line))
    return next(at for at in range(start, len(SOURCE)) if "MPI_Wait" in SOURCE[at]) + 1


@pytest.fixture(scope="module")
def stuck(debian_mpi: MpiBuild, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Job]:
    """The demo: rank 0 waits for rank 1, rank 1 for rank 2, which has sent it a message with another tag."""
    program = demo.compile_demo(tmp_path_factory.mktemp("demo"))
    with Job(program, ranks=demo.RANKS, launcher=debian_mpi.mpirun) as job:
        yield job


def assert_names_the_cause(content: Any) -> None:
    """Ranks 1 and 2 and the tags, in a finding; and where these stand."""
    assert content["schema"] == "mpi-queues/1"
    assert content["verdict"]["state"] in ("deadlock", "suspect")
    findings: List[Dict[str, Any]] = content["diagnosis"]
    (tags,) = [one for one in findings if one["kind"] == "tag mismatch"]
    assert {1, 2} <= set(tags["ranks"])
    assert "20" in tags["summary"] and "21" in tags["summary"]
    calls = {call["rank"]: (call["caller"], call["line"]) for one in findings for call in one["calls"]}
    # Rank 0 only waits for the others.
    assert {rank: call for rank, call in calls.items() if rank} == {
        1: ("receive_halo", line_of("receive_halo")),
        2: ("send_halo", line_of("send_halo")),
    }


def test_a_live_job_is_looked_at_twice(stuck: Job) -> None:
    result = mpi_queues("diagnose", "--job", str(stuck.launcher_pid), "--format", "json")
    assert (result.status, result.err) == (0, ""), str(result)
    content = json.loads(result.out)
    assert_names_the_cause(content)
    assert content["verdict"]["interval_ms"] >= 500
    (deadlock,) = [one for one in content["diagnosis"] if one["kind"] == "deadlock"]
    assert deadlock["certain"]
    movement = content["verdict"]["movement"]
    assert {one["rank"]: one["state"] for one in movement} == dict.fromkeys(range(demo.RANKS), "stuck")
    for pid in stuck.pids:
        processes.assert_running(pid)


def test_who_had_no_processor_between_two_looks_is_not_stuck_for_that(
    stuck: Job, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(diagnose, "RAN", 1e9)
    monkeypatch.setattr(diagnose, "PATIENCE", 0.0)
    assert cli.main(["diagnose", *pid_options(stuck.pids), "--format", "json"]) in (0, 1)
    content = json.loads(capsys.readouterr().out)
    movement = {one["rank"]: one["state"] for one in content["verdict"]["movement"]}
    # Some sleep for a moment where Open MPI yields the processor.
    starved = [pid for pid in stuck.pids if any(f"pid {pid}: it got no CPU time" in one for one in content["problems"])]
    assert starved
    assert sorted(movement.values()) == sorted(["unknown"] * len(starved) + ["stuck"] * (demo.RANKS - len(starved)))


def test_text_of_a_live_job(stuck: Job) -> None:
    result = mpi_queues("diagnose", *pid_options(stuck.pids))
    assert (result.status, result.err) == (0, ""), str(result)
    assert f"collect_results at demo.c:{line_of('collect_results')}" in result.out
    assert len(result.out.splitlines()) <= 24
    verbose = mpi_queues("diagnose", *pid_options(stuck.pids), "--once", "-v")
    assert len(verbose.out.splitlines()) > len(result.out.splitlines())


@pytest.mark.slow
def test_once_is_one_look(stuck: Job) -> None:
    content = json.loads(mpi_queues("diagnose", *pid_options(stuck.pids), "--once", "--format", "json").out)
    assert_names_the_cause(content)
    assert content["verdict"]["interval_ms"] is None


def test_a_process_that_is_held_is_not_looked_at_twice(stuck: Job) -> None:
    pids = stuck.pids
    os.kill(pids[0], signal.SIGSTOP)
    try:
        processes.wait_until(lambda: processes.state(pids[0]) == "T", "the rank to stop")
        result = mpi_queues("diagnose", "--pid", str(pids[0]), "--twice", "0.1")
        assert (result.status, result.out) == (2, "")
        assert "--twice needs live processes" in result.err
        assert processes.state(pids[0]) == "T"
    finally:
        os.kill(pids[0], signal.SIGCONT)


def test_interrupted_between_the_looks(stuck: Job) -> None:
    command = subprocess.Popen(
        [str(MPI_QUEUES), "diagnose", *pid_options(stuck.pids), "--twice", "600"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        pid = stuck.pids[0]
        processes.wait_until(lambda: processes.tracer(pid) != 0, "a debugger to come")
        # Now the job runs on until the second look.
        processes.wait_until(lambda: processes.tracer(pid) == 0, "the debugger to go")
        command.send_signal(signal.SIGINT)
        out, err = command.communicate(timeout=60)
    finally:
        command.kill()
        command.wait()
    assert (command.returncode, out) == (130, "")
    assert err.strip() == "mpi-queues: interrupted; the processes were left as they were"
    for pid in stuck.pids:
        processes.assert_running(pid)


def test_a_recording() -> None:
    result = mpi_queues("diagnose", "--recording", str(demo.RECORDING), "--format", "json")
    assert (result.status, result.err) == (0, ""), str(result)
    assert_names_the_cause(json.loads(result.out))
    assert_names_the_cause(json.loads(package.load(demo.RECORDING).diagnose().to_json()))


@pytest.mark.parametrize("file", KEPT, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_kept_recordings_are_diagnosed(file: pathlib.Path) -> None:
    found = package.load(file).diagnose()
    assert found.headline
    assert max(map(len, str(found).splitlines())) <= 100
    assert package.Snapshot.from_json(found.to_json()).diagnosis == found


def test_nothing_to_look_at_twice() -> None:
    result = mpi_queues("diagnose", "--recording", str(demo.RECORDING), "--twice", "1")
    assert (result.status, result.out) == (2, "")
    assert result.err.endswith("leave out --twice\n")


@pytest.fixture(params=DEBUGGERS, ids=[debugger.name for debugger in DEBUGGERS])
def debugger(request: pytest.FixtureRequest, preflight: None) -> Gdb:
    found: Gdb = request.param
    return found


#: Lets the job run for two seconds and stops it, with the prompt back afterwards.
RUN = {
    "gdb": (
        "python import threading, os, signal; threading.Timer(2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()",
        "continue",
    ),
    "lldb": (
        "script lldb.debugger.SetAsync(True)",
        "mpi foreach all process continue",
        "script import time; time.sleep(2)",
        "mpi foreach all process interrupt",
        "script import time; time.sleep(1)",
        "script lldb.debugger.SetAsync(False)",
    ),
}


@pytest.mark.slow
def test_all_ranks_in_a_debugger(debugger: Gdb, stuck: Job) -> None:
    commands = [f"mpi attach {stuck.launcher_pid}", "mpi diagnose -format json", "mpi diagnose", *RUN[debugger.name]]
    *_, text = outputs = debugger.run(*commands, "mpi diagnose -format json")
    first, second = json.loads(outputs[1]), json.loads(text)
    assert_names_the_cause(first)
    assert_names_the_cause(second)
    assert first["verdict"]["interval_ms"] is None
    assert second["verdict"]["interval_ms"] >= 200
    assert f"collect_results at demo.c:{line_of('collect_results')}" in outputs[2]
    # At the same stop nothing can have moved.
    assert "ince the last look" not in outputs[2]
    for pid in stuck.pids:
        processes.assert_running(pid)


@pytest.mark.usual("gdb")
def test_a_report_of_all_ranks_in_a_debugger(debugger: Gdb, stuck: Job, tmp_path: pathlib.Path) -> None:
    page, drawing = tmp_path / "hang.html", tmp_path / "hang.svg"
    attach = f"mpi attach {stuck.launcher_pid}"
    outputs = debugger.run(attach, f"mpi report {page}", f"mpi report -no-source {drawing}", "mpi report hang.pdf")
    assert f"wrote {page} (" in outputs[1] and f"wrote {drawing} (" in outputs[2]
    assert "reports are HTML, SVG or DOT" in outputs[3]
    assert_names_the_cause(json.loads(mpi_queues("diagnose", "--recording", str(page), "--format", "json").out))
    # The source of the demo lies beside its program.
    text = re.sub(r"<[^>]*>", "", page.read_text(encoding="utf-8"))
    assert SOURCE[line_of("send_halo") - 3].strip().split("(")[0] in text
    assert "receive_halo at demo.c" in drawing.read_text(encoding="utf-8")


@pytest.mark.slow
def test_one_rank_alone_says_how_to_have_the_others(debugger: Gdb, stuck: Job) -> None:
    attach = debugger.attach(stuck.pids[0])
    text = debugger.run(*attach, "mpi diagnose")[-1]
    assert f"collect_results at demo.c:{line_of('collect_results')}" in text
    assert "1 of 3 ranks was read; to read all: mpi attach, then: mpi diagnose" in text


@pytest.mark.usual("gdb")
def test_without_a_process(debugger: Gdb) -> None:
    (text,) = debugger.run("mpi diagnose")
    assert text.strip().removeprefix("error: ").startswith("no process: nothing is being debugged here")
