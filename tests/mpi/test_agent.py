"""mpi-queues-agent on real jobs: what it says is what the command line says, and the ranks are left as they were."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Sequence, Tuple

import pytest
from support import cores, processes, recording_file, users
from support.agent import AGENT, agent, started
from support.builds import MpiBuild
from support.cli import mpi_queues as command_line
from support.cli import pid_options
from support.jobs import Job

StartJob = Callable[..., Job]


#: What is asked of both: the agent's command and options, and what the command line takes besides.
ASKED: Sequence[Tuple[Sequence[str], Sequence[str]]] = (
    (["show"], []),
    (["show", "--internal"], []),
    (["stacks"], []),
    (["stacks", "--threads", "--internal"], []),
    (["diagnose"], ["--once"]),
)


@pytest.fixture(params=["debian_mpi", "debian_mpich"])
def job(request: pytest.FixtureRequest, start_job: StartJob) -> Iterator[Job]:
    """Three ranks of Debian's Open MPI or MPICH that hang, and are stopped: nothing of them moves between two looks."""
    build: MpiBuild = request.getfixturevalue(request.param)
    job = start_job(build, "truth_modes", ranks=3)
    for pid in job.pids:
        os.kill(pid, signal.SIGSTOP)
        processes.wait_until(lambda pid=pid: processes.state(pid) == "T", "the rank to stop")
    yield job
    assert [processes.state(pid) for pid in job.pids] == ["T", "T", "T"]
    for pid in job.pids:
        os.kill(pid, signal.SIGCONT)
    job.assert_running()


def _lasting(text: str | bytes) -> Any:
    """Without times."""
    snapshot = json.loads(text)
    for one in (snapshot, *snapshot["processes"]):
        one.pop("captured_at", None)
    snapshot["notes"] = [re.sub(r"\d+\.\d+ s|\d+ ms", "TIME", note) for note in snapshot.get("notes", [])]
    return snapshot


def _same(*targets: str) -> Dict[str, Any]:
    """Asks both for everything; the last answer."""
    snapshot: Dict[str, Any] = {}
    for asked, further in ASKED:
        ours, theirs = agent(*asked, *targets), command_line(*asked, *targets, *further, "--format", "json")
        assert (ours.status, ours.err) == (theirs.status, theirs.err.replace("mpi-queues:", "mpi-queues-agent:"))
        snapshot = _lasting(ours.out)
        assert snapshot == _lasting(theirs.out), asked
    return snapshot


@pytest.mark.slow
def test_the_json_of_a_job_is_that_of_the_command_line(job: Job, tmp_path: Path) -> None:
    pids = pid_options(job.pids)
    live = _same(*pids)
    assert [process["rank"] for process in live["processes"]] == [0, 1, 2]
    # They are stopped.
    assert "stopped by a signal" in live["verdict"]["headline"] and live["processes"][0]["stacks"]
    core = str(cores.gcore(job.pids[1], tmp_path / "core"))
    dumped = _same("--core", core, "--exe", str(job.program))
    assert dumped["processes"][0]["source"]["via"] == "core"
    # All at once, and what was recorded twice.
    _same(*pids[:2], "--core", core)


@pytest.mark.slow
def test_a_recording_is_that_of_the_command_line(job: Job, tmp_path: Path) -> None:
    pids = pid_options(job.pids)
    ours, theirs = tmp_path / "ours.mpirec", tmp_path / "theirs.mpirec"
    written = agent("record", *pids)
    assert (written.status, written.err) == (0, "")
    ours.write_bytes(written.out)
    assert command_line("record", *pids, "-o", str(theirs)).status == 0
    assert _frames(ours) == _frames(theirs)
    _same("--recording", str(ours))
    # Once more, from the recording and with a name.
    again = tmp_path / "again.mpirec"
    assert agent("record", "--recording", str(ours), "-o", str(again)) == (0, b"", "")
    assert _frames(again) == _frames(ours)
    info = json.loads(command_line("recording", "info", str(again), "--format", "json").out)
    assert info["about"]["tool"].startswith("mpi-queues-agent ") and info["about"]["recorded_on"]
    # What somebody else has is not replaced, and nothing is left beside it.
    other = tmp_path / "notes.txt"
    other.write_text("mine")
    refused = agent("record", *pids, "-o", str(other))
    assert refused.status == 3 and "exists and is not a recording; it was not changed" in refused.err
    assert other.read_text() == "mine"
    assert {path.stem for path in tmp_path.iterdir()} == {"again", "notes", "ours", "theirs"}


def _frames(path: Path) -> List[Tuple[str, Any]]:
    """Without times and who made the file."""
    found: List[Tuple[str, Any]] = []
    for kind, raw in recording_file.frames(path):
        if kind == "INFO":
            continue
        content: Any = raw
        if raw.startswith(b"{"):
            content = json.loads(raw)
            content.pop("captured_at", None)
        found.append((kind, content))
    return found


def test_ranks_are_left_as_they_were(debian_mpi: MpiBuild, start_job: StartJob) -> None:
    job = start_job(debian_mpi, "truth_modes", ranks=3)
    os.kill(job.pids[1], signal.SIGSTOP)
    processes.wait_until(lambda: processes.state(job.pids[1]) == "T", "the rank to stop")
    shown = agent("show", *pid_options(job.pids))
    assert shown.status == 0, shown.err
    states = [process["state"] for process in json.loads(shown.out)["processes"]]
    assert states[1] == "stopped" and set(states) <= {"running", "sleeping", "stopped"}
    processes.wait_until(lambda: processes.state(job.pids[1]) == "T", "it to be as it was")
    os.kill(job.pids[1], signal.SIGCONT)
    # In the middle of reading.
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        reading = started("record", *pid_options(job.pids))
        for _ in range(2000):
            if processes.tracer(job.pids[2]) == reading.pid or reading.poll() is not None:
                break
            time.sleep(0.001)
        reading.send_signal(number)
        reading.wait()
        processes.wait_until(lambda: all(processes.tracer(pid) == 0 for pid in job.pids), "the ranks to be let go")
        job.assert_running()
    # A limit that is over at once.
    late = agent("show", *pid_options(job.pids), "--timeout", "0.000001")
    assert late.status == 3 and f"pid {job.pids[0]}: " in late.err, late.err
    assert len(json.loads(late.out)["problems"]) == 3
    job.assert_running()


@pytest.fixture
def public_agent() -> Iterator[Path]:
    """A copy where every user may run it."""
    place = users.public_directory()
    shutil.copy(AGENT, place)
    (place / AGENT.name).chmod(0o755)
    yield place / AGENT.name
    shutil.rmtree(place)


#: Waits until it is ended, and cannot be dumped, as a set-user-id program.
_UNDUMPABLE = "import ctypes, time; ctypes.CDLL(None).prctl(4, 0); print(flush=True); time.sleep(1000)"


@pytest.mark.skipif(not users.AM_ROOT, reason="somebody else's processes take root")
def test_what_stands_in_the_way_is_named(public_agent: Path) -> None:
    rights = users.rights(users.OTHER)
    of_root = agent("show", "--pid", str(os.getpid()), program=public_agent, cwd="/", **rights)
    told = f"pid {os.getpid()}: belongs to root (uid 0), and you are uid {users.OTHER}\ntype: sudo -u root "
    assert of_root.status == 3 and told in of_root.err, of_root.err
    own = subprocess.Popen([sys.executable, "-c", _UNDUMPABLE], stdout=subprocess.PIPE, cwd="/", **rights)
    try:
        assert own.stdout is not None and own.stdout.readline()
        refused = agent("show", "--pid", str(own.pid), program=public_agent, cwd="/", **rights)
        assert refused.status == 3 and "the kernel " in refused.err and "sudo" in refused.err, refused.err
        assert processes.state(own.pid) == "S"
        # It is no MPI process, which is another matter.
        ours = agent("stacks", "--pid", str(own.pid))
        assert json.loads(ours.out)["processes"][0]["notes"][0].startswith("only its stacks are known: ")
    finally:
        own.kill()
        own.communicate()
    gone = agent("show", "--pid", str(own.pid))
    assert gone.status == 3 and f"pid {own.pid}: no such process\nto find the ranks of a job, type: " in gone.err


def test_it_is_one_file_that_needs_nothing() -> None:
    told = subprocess.run(
        ["readelf", "--program-headers", "--dynamic", "--wide", str(AGENT)], capture_output=True, text=True, check=True
    )
    assert "LOAD" in told.stdout and "INTERP" not in told.stdout and "(NEEDED)" not in told.stdout
