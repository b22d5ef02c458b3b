"""The command line on a real job."""

from __future__ import annotations

import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import time
from typing import Dict, List

import pytest
from mpi_queues.system import advice
from support.cli import mpi_queues, pid_options
from support.compare import lasting
from support.jobs import Job
from support.paths import MPI_QUEUES


def start(environment: Dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [str(MPI_QUEUES), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )


def test_several_processes_at_once(comms_job: Job) -> None:
    result = mpi_queues("show", *pid_options(comms_job.pids), *pid_options(comms_job.pids))
    assert result.status == 0, str(result)
    assert result.err == ""
    assert re.findall(r"^Rank (\d) of 2", result.out, re.MULTILINE) == ["0", "1"]
    assert re.match(r"2 processes, \d+ communicators: ", result.out.splitlines()[-1])
    assert max(map(len, result.out.splitlines())) <= 100
    comms_job.assert_running()


def test_filters(comms_job: Job) -> None:
    result = mpi_queues(
        "show", *pid_options(comms_job.pids), "--rank", "1", "--comm", "MPI_COMM_WORLD", "--format", "json"
    )
    snapshot = json.loads(result.out)
    assert [process["rank"] for process in snapshot["processes"]] == [1]
    assert [comm["name"] for comm in snapshot["processes"][0]["communicators"]] == ["MPI_COMM_WORLD"]


def test_communicators(comms_job: Job) -> None:
    result = mpi_queues("comms", *pid_options(comms_job.pids))
    assert result.status == 0, str(result)
    assert "MPI_COMM_SELF" in result.out
    assert result.out.splitlines()[-1].startswith("2 processes, ")


def test_a_recording_of_several_processes(comms_job: Job, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "hang.mpirec"
    result = mpi_queues("record", *pid_options(comms_job.pids), "-o", str(file))
    assert (result.status, result.err) == (0, ""), str(result)
    assert re.match(rf"{re.escape(str(file))}: 2 processes, [\d.]+ KiB\n", result.out)
    comms_job.assert_running()
    live = json.loads(mpi_queues("show", *pid_options(comms_job.pids), "--format", "json").out)
    shown = json.loads(mpi_queues("show", "--recording", str(file), "--format", "json").out)
    assert {process["source"]["via"] for process in shown["processes"]} == {"recording"}
    assert [lasting(one) for one in shown["processes"]] == [lasting(one) for one in live["processes"]]
    said = mpi_queues("recording", "info", str(file))
    assert "Rank 1 of 2" in said.out
    assert said.out.endswith("\n2 processes\n")
    info = json.loads(mpi_queues("recording", "info", str(file), "--format", "json").out)
    assert [process["pid"] for process in info["processes"]] == comms_job.pids


def test_what_cannot_be_recorded_is_told_and_the_rest_recorded(comms_job: Job, tmp_path: pathlib.Path) -> None:
    file, again = tmp_path / "hang.mpirec", tmp_path / "again.mpirec"
    pid = str(comms_job.pids[0])
    result = mpi_queues("record", "--pid", pid, "--pid", "99999999", "-o", str(file))
    assert result.status == 1
    assert "pid 99999999: no such process" in result.err
    # The recording takes the place of one, and several become one.
    result = mpi_queues("record", "--recording", str(file), "--pid", str(comms_job.pids[1]), "-o", str(again))
    assert result.status == 0, str(result)
    shown = json.loads(mpi_queues("show", "--recording", str(again), "--format", "json").out)
    assert [process["pid"] for process in shown["processes"]] == comms_job.pids
    assert mpi_queues("record", "--recording", str(again), "-o", str(file)).status == 0
    assert sorted(tmp_path.iterdir()) == [again, file]


def test_nothing_is_written_where_nothing_was_recorded(comms_job: Job, tmp_path: pathlib.Path) -> None:
    text = tmp_path / "text"
    text.write_text("mine\n")
    pid = str(comms_job.pids[0])
    for output, named in [
        (text, "is not a recording; it was not changed"),
        (tmp_path / "nix" / "x.mpirec", "No such file or directory"),
        (pathlib.Path("/proc/x.mpirec"), "cannot write the recording /proc/x.mpirec"),
    ]:
        result = mpi_queues("record", "--pid", pid, "-o", str(output))
        assert result.status == 3
        assert named in result.err
        assert "Traceback" not in result.err
    result = mpi_queues("record", "--pid", "99999999", "-o", str(tmp_path / "x.mpirec"))
    assert result.status == 3
    assert "no such process" in result.err
    assert text.read_text() == "mine\n"
    assert list(tmp_path.iterdir()) == [text]


def test_what_is_no_recording(tmp_path: pathlib.Path) -> None:
    text = tmp_path / "text"
    text.write_text("mine\n")
    for arguments in (["show", "--recording", str(text)], ["recording", "info", str(text)]):
        result = mpi_queues(*arguments)
        assert (result.status, result.out) == (3, "")
        assert f"{text} is not a recording" in result.err


def on_terminal(arguments: List[str], environment: Dict[str, str]) -> str:
    """What the command writes to a terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(str(MPI_QUEUES), [str(MPI_QUEUES), *arguments], environment)
    seen = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    os.waitpid(pid, 0)
    os.close(terminal)
    return seen.decode()


def test_progress_and_colour_only_on_a_terminal(comms_job: Job) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    environment["TERM"] = "xterm"
    arguments = ["show", *pid_options(comms_job.pids)]
    seen = on_terminal(arguments, environment)
    assert "reading process 1 of 2" in seen
    assert "\x1b[1mRank 0" in seen
    seen = on_terminal(arguments, {**environment, "NO_COLOR": "1"})
    assert "\x1b[1m" not in seen
    assert "\x1b" not in mpi_queues(*arguments).out


def test_the_demo(debian_mpi: object, tmp_path: pathlib.Path) -> None:
    result = mpi_queues("demo", environment={"TMPDIR": str(tmp_path)})
    assert result.status == 0, str(result)
    said = " ".join(result.out.split())
    assert 'rank 2 sends tag 21 on "halo", rank 1 waits for tag 20' in said
    pids = {int(pid) for pid in re.findall(r"--pid (\d+)", result.out)}
    assert len(pids) == 3
    assert [pid for pid in pids if pathlib.Path(f"/proc/{pid}").exists()] == []
    assert list(tmp_path.glob("mpi-queues-demo-*")) == []


def test_json_tells_why_nothing_could_be_read() -> None:
    result = mpi_queues("show", "--pid", "99999999", "--format", "json")
    assert result.status == 3
    assert "no such process" in result.err
    snapshot = json.loads(result.out)
    assert (snapshot["schema"], snapshot["processes"]) == ("mpi-queues/1", [])
    assert "no such process" in snapshot["problems"][0]


# While it reads, and while it waits for its second look.
@pytest.mark.parametrize("seconds", [0.05, 0.3])
def test_the_demo_is_interrupted(debian_mpi: object, tmp_path: pathlib.Path, seconds: float) -> None:
    command = start({**os.environ, "TMPDIR": str(tmp_path)}, "demo")
    assert command.stdout is not None
    pids: List[int] = []
    for line in command.stdout:
        pids = [int(pid) for pid in re.findall(r"--pid (\d+)", line)]
        if pids:
            break
    time.sleep(seconds)
    command.send_signal(signal.SIGINT)
    _, err = command.communicate(timeout=60)
    assert command.returncode == 130
    assert "Traceback" not in err
    assert [pid for pid in pids if pathlib.Path(f"/proc/{pid}").exists()] == []
    assert list(tmp_path.glob("mpi-queues-demo-*")) == []


def test_the_demo_names_the_packages_that_it_needs(tmp_path: pathlib.Path) -> None:
    (tmp_path / "gcc").symlink_to("/usr/bin/gcc")
    result = mpi_queues("demo", environment={"PATH": str(tmp_path), "TMPDIR": str(tmp_path)})
    assert result.status == 0, str(result)
    assert "This machine has no mpicc and no mpirun, so the demo cannot" in result.out
    assert f"{advice.install('libopenmpi-dev openmpi-bin')}; mpi-queues demo" in result.out
