"""What Python programs call, its documentation, and its types in a user's project."""

from __future__ import annotations

import doctest
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Iterator, List

import mpi_queues
import pytest
from mpi_queues import Snapshot, UsageError, UserError
from mpi_queues.cli import demo
from mpi_queues.jobs import Job
from support import processes
from support.builds import MpiBuild
from support.compare import lasting
from support.paths import PROJECT

pytest_plugins = ["pytester"]


@pytest.fixture(scope="module")
def place(debian_mpi: MpiBuild, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's directory: the demo, and a recording of it."""
    directory = tmp_path_factory.mktemp("user")
    demo.compile_demo(directory)
    shutil.copyfile(demo.RECORDING, directory / "hang.mpirec")
    return directory


@pytest.fixture(scope="module")
def job(debian_mpi: MpiBuild, place: Path) -> Iterator[Job]:
    with Job(place / "demo", ranks=3, launcher=debian_mpi.mpirun) as running:
        # A rank says that it is ready just before it calls MPI_Wait: readings are compared once all stand in it.
        processes.wait_until(lambda: all_wait(running), "all ranks to stand in MPI_Wait")
        yield running
        for pid in running.pids:
            processes.assert_running(pid)


@pytest.fixture(scope="module")
def core(job: Job, place: Path) -> Path:
    """Of rank 1."""
    subprocess.run(["gcore", "-o", str(place / "core"), str(job.pids[1])], check=True, capture_output=True)
    (place / f"core.{job.pids[1]}").rename(place / "core.1")
    return place / "core.1"


def all_wait(job: Job) -> bool:
    ranks = mpi_queues.attach(job.pids).processes
    return [[call["function"] for call in rank.calls] for rank in ranks] == [["MPI_Wait"]] * job.ranks


def same(snapshot: Snapshot) -> List[object]:
    """What is equal however a process is read: all but the time and who reads."""
    content = json.loads(snapshot.to_json())
    return [[lasting(process) for process in content["processes"]], content["problems"]]


def test_live_processes(job: Job) -> None:
    one = mpi_queues.attach(job.pids[1])
    assert [process.pid for process in one.processes] == [job.pids[1]]
    every = mpi_queues.attach(pid=[job.pids[2], *job.pids], source="builtin")
    assert [(process.rank, process.pid) for process in every.processes] == list(enumerate(job.pids))
    # A thread that polls begins again in another system call after each stop: what lasts is compared.
    assert same(every)[0][1] == same(one)[0][0]
    assert same(Snapshot.from_json(every.to_json())) == same(every)
    assert Snapshot.from_json(every.to_json()) == every


def test_the_plug_in_reads_when_it_is_asked_for(job: Job) -> None:
    read = mpi_queues.attach(job.pids[1], source="plugin")
    source = read.rank(1).source
    assert source is not None and source["kind"] == "plugin" and source["plugin"]
    named = mpi_queues.attach(job.pids[1], plugin=source["plugin"])
    # Of a thread that polls only what lasts is compared: after the first stop it begins again in another system call.
    assert same(named) == same(read)
    with pytest.raises(UserError, match="no such plug-in"):
        mpi_queues.attach(job.pids[1], plugin="/nosuch.so")


def test_a_core_file_says_what_the_process_said(job: Job, core: Path, place: Path) -> None:
    live = same(mpi_queues.attach(job.pids[1]))
    assert same(mpi_queues.open_core(core, place / "demo")) == live
    assert same(mpi_queues.open_core(core)) == live


def test_what_could_not_be_read_is_told(job: Job, tmp_path: Path) -> None:
    partly = mpi_queues.attach([job.pids[0], 99999999])
    assert [process.rank for process in partly.processes] == [0]
    assert len(partly.problems) == 1 and "99999999: no such process" in partly.problems[0]
    with pytest.raises(UserError, match="no such process"):
        mpi_queues.attach(99999999)
    (tmp_path / "text").write_text("x" * 1000)
    with pytest.raises(UserError, match="text"):
        mpi_queues.open_core(tmp_path / "text")
    with pytest.raises(UserError, match="text"):
        mpi_queues.load(tmp_path / "text")
    with pytest.raises(UserError, match="nosuch"):
        mpi_queues.load(tmp_path / "nosuch")


def test_arguments_that_make_no_sense() -> None:
    for arguments, named in (
        ({"job": 17, "pid": 17}, "both a job and processes are named"),
        ({"job": True}, "True is neither a process id nor a name"),
        ({"job": -1}, "-1 is neither a process id nor a name"),
        ({"job": [17]}, r"\[17\] is neither a process id nor a name"),
        ({}, "no process is named"),
        ({"pid": []}, "no process is named"),
        ({"pid": ["x"]}, "'x' is not a process id"),
        ({"pid": -1}, "-1 is not a process id"),
        ({"pid": True}, "True is not a process id"),
        ({"pid": 1, "via": "ptrace"}, "via: ptrace: not one of auto, native"),
        ({"pid": 1, "via": "gdb"}, r"the command line reads .*; start one yourself \(gdb -p PID\)"),
        ({"pid": 1, "source": "guess"}, "source='guess': not one of"),
        ({"pid": 1, "source": "builtin", "plugin": "/x"}, "the built-in reader uses no plug-in"),
        ({"pid": 1, "timeout": -1}, "timeout=-1"),
        ({"pid": 1, "timeout": float("nan")}, "timeout=nan"),
    ):
        with pytest.raises(UsageError, match=named):
            mpi_queues.attach(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["mpi_queues", "mpi_queues.api", "mpi_queues.testing", "mpi_queues.jobs"])
def test_the_examples_of_the_documentation(
    job: Job, core: Path, place: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(place)
    known = {"mpi_queues": mpi_queues, "pid_of_rank_0": job.pids[0], "pid_of_rank_1": job.pids[1]}
    result = doctest.testmod(
        importlib.import_module(name), extraglobs=known, optionflags=doctest.IGNORE_EXCEPTION_DETAIL
    )
    assert result.failed == 0 and result.attempted > 0


def page(section: str, language: str) -> List[str]:
    """The blocks of one language in one section."""
    text = (PROJECT / "docs" / "python.md").read_text(encoding="utf-8")
    (body,) = re.findall(rf"^## {section}\n(.*?)(?=^## )", text, re.M | re.S)
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", body, re.M | re.S)
    return [text for named, text in blocks if named == language]


def test_the_python_example_of_the_page(place: Path) -> None:
    (code,), (printed,) = page("Reading", "python"), page("Reading", "output")
    run = subprocess.run([sys.executable, "-c", code], cwd=place, capture_output=True, text=True, check=False)
    assert (run.stdout, run.stderr) == (printed, "")


USER = """
import mpi_queues
import pytest
from mpi_queues import Communicator, Operation, Queue, Snapshot, UserError
from mpi_queues.jobs import Job, StartJob
from mpi_queues.testing import assert_no_pending, assert_no_unexpected, assert_queue


def tags(queue: Queue) -> list[int | None]:
    return [operation.desired_tag for operation in queue if operation.buffer != 0x10]


@pytest.mark.mpi_recording("hang.mpirec")
def test_recording(mpi_session: Snapshot) -> None:
    halo: Communicator = mpi_session.rank(0).communicator("halo")
    first: Operation = halo.pending_receives[0]
    text: str = mpi_session.to_json() + first.status
    assert text and tags(halo.pending_sends) and Snapshot.from_json(text)
    assert_queue(halo.pending_receives, [{"desired_tag": 17, "buffer": "0x10"}], ordered=False)
    assert_no_pending(mpi_session)
    assert_no_unexpected(halo)


def test_job(mpi_job: StartJob) -> None:
    job: Job = mpi_job("./program", ranks=4, args=["x"], env={"A": "b", "C": None}, timeout=10)
    pids: list[int] = job.pids
    try:
        snapshot: Snapshot = mpi_queues.attach(pids, via="auto")
        snapshot = mpi_queues.attach(pid=pids[0])
        snapshot = mpi_queues.open_core("core", exe="program")
        snapshot = mpi_queues.load("hang.mpirec")
        snapshot = job.snapshot(via="native")
        print(snapshot, job.output)
    except UserError as error:
        print(error.help, error.kind)
    job.end()
"""

#: Each of these must not pass.
WRONG = """
import mpi_queues
reveal = mpi_queues.load("x").rank("0")
mpi_queues.attach(pid="1")
mpi_queues.load("x").rank(0).rank = 5
"""


@pytest.mark.slow
def test_a_users_project_is_checked_with_our_types(tmp_path: Path) -> None:
    (tmp_path / "test_user.py").write_text(textwrap.dedent(USER))
    (tmp_path / "wrong.py").write_text(WRONG)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MYPY")}

    def check(name: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), name]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    right = check("test_user.py")
    assert right.stdout == "Success: no issues found in 1 source file\n", right.stdout + right.stderr
    assert [line.split(":")[1] for line in check("wrong.py").stdout.splitlines() if "error:" in line] == ["3", "4", "5"]
