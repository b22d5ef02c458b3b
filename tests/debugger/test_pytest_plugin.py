"""The pytest plug-in as a user's test suite meets it: in a pytest of its own."""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import subprocess
import sys
from typing import List

import pytest
from mpi_queues.cli import demo
from support import processes

pytest_plugins = ["pytester"]

#: What the demo's rank 1 waits for; demo.c says so.
HALO = """
def test_halo(mpi_session):
    halo = mpi_session.rank(1).communicator("halo")
    assert_queue(halo.pending_receives, [{"desired_local_rank": 2, "desired_tag": 20, "status": "pending"}])
    assert_queue(halo.unexpected_messages, [{"desired_local_rank": 2, "desired_tag": 21}])
"""

HEAD = """
import pytest
from mpi_queues.testing import assert_queue
"""


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    """A user's directory that has a recording."""
    shutil.copyfile(demo.RECORDING, pytester.path / "hang.mpirec")
    return pytester


def runs(suite: pytest.Pytester, *options: str, **outcomes: int) -> str:
    """Runs the user's tests, with markers checked and warnings as errors; returns what pytest says."""
    result = suite.runpytest_subprocess("--strict-markers", "-W", "error", *options)
    result.assert_outcomes(**outcomes)
    return "\n".join((*result.outlines, *result.errlines))


def test_where_the_recording_is_named(suite: pytest.Pytester) -> None:
    in_a_class = HALO.replace("\n", "\n    ").replace("(mpi_session)", "(self, mpi_session)")
    marked = {
        "function": '@pytest.mark.mpi_recording("hang.mpirec")' + HALO,
        "path": 'import pathlib\n@pytest.mark.mpi_recording(pathlib.Path(__file__).with_name("hang.mpirec"))' + HALO,
        "module": 'pytestmark = pytest.mark.mpi_recording("hang.mpirec")' + HALO,
        "class": '@pytest.mark.mpi_recording("hang.mpirec")\nclass TestIt:' + in_a_class,
        "closest": '@pytest.mark.mpi_recording("nosuch.mpirec")\nclass TestIt:\n'
        '    @pytest.mark.mpi_recording("hang.mpirec")' + in_a_class,
        "parametrize": '@pytest.mark.parametrize("mpi_session", ["hang.mpirec"], indirect=True)' + HALO,
    }
    suite.makepyfile(**{f"test_{name}": HEAD + text for name, text in marked.items()})
    runs(suite, passed=len(marked))


def test_a_test_for_each_recording(suite: pytest.Pytester) -> None:
    shutil.copyfile(demo.RECORDING, suite.mkdir("older") / "v1.mpirec")
    suite.makepyfile(HEAD + '@pytest.mark.mpi_recording("hang.mpirec", "older/v1.mpirec")' + HALO)
    said = runs(suite, "-v", passed=2)
    assert "test_halo[hang.mpirec] PASSED" in said and "test_halo[older/v1.mpirec] PASSED" in said


def test_handles_are_read_where_the_marker_asks_for_them(suite: pytest.Pytester) -> None:
    asked = '@pytest.mark.mpi_recording("hang.mpirec", handles=["MPI_Comm", "op"])'
    suite.makepyfile(
        HEAD
        + f"""
@pytest.mark.mpi_recording("hang.mpirec")
def test_none(mpi_session):
    assert mpi_session.rank(0).handles == []

{asked}
def test_some(mpi_session):
    comms, ops = mpi_session.rank(0).handles
    assert (comms["kind"], ops["kind"]) == ("comm", "op")
    assert {{"MPI_COMM_WORLD", "halo"}} <= {{one["name"] for one in comms["handles"]}}
"""
    )
    runs(suite, passed=2)


def test_a_recording_beside_the_test_comes_before_one_in_the_root(suite: pytest.Pytester) -> None:
    place = suite.mkpydir("deep")
    (place / "test_it.py").write_text(HEAD + '@pytest.mark.mpi_recording("hang.mpirec")' + HALO)
    runs(suite, passed=1)
    (place / "hang.mpirec").write_bytes(b"not one")
    assert "hang.mpirec cannot be read" in runs(suite, errors=1)


def test_the_difference_is_what_is_shown(suite: pytest.Pytester) -> None:
    wrong = HALO.replace('"desired_tag": 20', '"desired_tag": 21')
    suite.makepyfile(HEAD + '@pytest.mark.mpi_recording("hang.mpirec")' + wrong)
    said = runs(suite, failed=1)
    assert "differs: expected [0], found [0] <mpi_queues.Operation MPI_Irecv, peer 2, tag 20" in said
    assert "desired_tag is 20, expected 21" in said
    # The user's line, not ours.
    assert "testing.py" not in said


def test_a_recording_that_is_not_there_or_damaged(suite: pytest.Pytester) -> None:
    suite.mkdir("folder")
    (suite.path / "text.mpirec").write_text("not a recording")
    whole = demo.RECORDING.read_bytes()
    # Somewhere in the last process: the first ones are still whole.
    (suite.path / "cut.mpirec").write_bytes(whole[: len(whole) * 9 // 10])
    marked = [
        ("", 'mpi_session needs the name of a recording: @pytest.mark.mpi_recording("hang.mpirec")'),
        ("@pytest.mark.mpi_recording()", "takes the path of a recording"),
        ("@pytest.mark.mpi_recording(7)", "takes the path of a recording"),
        ('@pytest.mark.mpi_recording(path="hang.mpirec")', "takes the path of a recording"),
        ('@pytest.mark.mpi_recording("nosuch.mpirec")', "the recording nosuch.mpirec: no such file in "),
        ('@pytest.mark.mpi_recording("folder")', "the recording folder: not a file in "),
        ('@pytest.mark.mpi_recording("text.mpirec")', "text.mpirec cannot be read"),
        ('@pytest.mark.mpi_recording("cut.mpirec")', "cut.mpirec could not be read completely"),
        ('@pytest.mark.mpi_recording("hang.mpirec", handles="comm")', "handles='comm' is not a list of kinds"),
        ('@pytest.mark.mpi_recording("hang.mpirec", handles=["nosuch"])', "nosuch: not a kind of handle"),
    ]
    for number, (marker, _) in enumerate(marked):
        suite.makepyfile(**{f"test_{number}": HEAD + marker + HALO})
    said = runs(suite, errors=len(marked))
    _, *errors = said.split("ERROR at setup of ")
    assert len(errors) == len(marked)
    assert [named for (_, named), error in zip(marked, errors) if named not in error] == []
    assert "Traceback" not in said and "pytest_plugin.py" not in said


def test_without_the_plug_in(suite: pytest.Pytester) -> None:
    suite.makepyfile(HEAD + "@pytest.mark.filterwarnings('default')" + HALO)
    assert "fixture 'mpi_session' not found" in runs(suite, "-p", "no:mpi_queues", errors=1)
    suite.makepyfile("def test_other(): pass")
    runs(suite, "-p", "no:mpi_queues", passed=1)


def test_those_who_do_not_use_it_pay_nothing(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        "import sys\n"
        "def test_other():\n"
        "    heavy = ('mpi_queues', 'gdb', 'lldb', 'ctypes')\n"
        "    loaded = sorted(name for name in sys.modules if name.startswith(heavy))\n"
        "    assert loaded == ['mpi_queues', 'mpi_queues.pytest_plugin', 'mpi_queues.starting']\n"
    )
    runs(suite, passed=1)
    suite.runpytest_subprocess("--markers").stdout.fnmatch_lines(["@pytest.mark.mpi_recording(file, ..., handles=*"])
    suite.runpytest_subprocess("--fixtures").stdout.fnmatch_lines_random(["mpi_session *", "mpi_job *"])


#: A program that says that it is ready, and a test of it that a line is put into.
PROGRAM = f"#!{sys.executable}\nimport time; print('ready', flush=True); time.sleep(1000)\n"
JOB_TEST = """
import os, pathlib, pytest

PIDS = pathlib.Path("pids")

@pytest.fixture
def broken(mpi_job):
    mpi_job("./program")
    raise RuntimeError

def test_one(mpi_job, request):
    job = mpi_job("./program", ranks=2, env={{"SOME": "value"}})
    print("PIDS", *job.pids)
    PIDS.write_text(" ".join(map(str, [job.launcher_pid, *job.pids])) + "\\n")
    {line}

def test_other():
    assert not any(os.path.exists(f"/proc/{{pid}}") for pid in PIDS.read_text().split())
"""


def job_suite(pytester: pytest.Pytester, line: str) -> None:
    pytester.makepyfile(JOB_TEST.format(line=line))
    program = pytester.path / "program"
    program.write_text(PROGRAM)
    program.chmod(0o755)


def started(pytester: pytest.Pytester) -> List[int]:
    pids = [int(word) for word in (pytester.path / "pids").read_text().split()]
    assert len(pids) >= 3
    return pids


def assert_all_ended(pids: List[int]) -> None:
    processes.wait_until(lambda: all(processes.state(pid) in (None, "Z") for pid in pids), "the end of the job", 20)


@pytest.mark.parametrize(
    ("line", "outcomes"),
    [
        ("pass", {"passed": 2}),
        ("job.end(); job.end()", {"passed": 2}),
        ("assert False", {"failed": 1, "passed": 1}),
        ("mpi_job('./program', ranks=3)", {"passed": 2}),
        ("request.getfixturevalue('broken')", {"failed": 1, "passed": 1}),
        ("pytest.skip()", {"skipped": 1, "passed": 1}),
    ],
    ids=["passes", "ends it itself", "fails", "two jobs", "fixture error", "skips"],
)
def test_a_job_ends_with_its_test(
    pytester: pytest.Pytester, debian_mpi: object, line: str, outcomes: dict[str, int]
) -> None:
    job_suite(pytester, line)
    runs(pytester, **outcomes)


def test_a_job_ends_where_the_run_stops(pytester: pytest.Pytester, debian_mpi: object) -> None:
    job_suite(pytester, "assert False")
    runs(pytester, "-x", failed=1)
    assert_all_ended(started(pytester))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_job_ends_with_the_pytest_that_has_started_it(
    pytester: pytest.Pytester, debian_mpi: object, number: signal.Signals
) -> None:
    job_suite(pytester, "import time; time.sleep(1000)")
    run = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q"], cwd=pytester.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    processes.wait_until(lambda: (pytester.path / "pids").exists(), "the job")
    processes.wait_until(lambda: (pytester.path / "pids").read_text().endswith("\n"), "the job's pids")
    pids = started(pytester)
    for pid in pids:
        processes.assert_running(pid)
    run.send_signal(number)
    run.wait(60)
    assert_all_ended(pids)


def test_a_job_that_does_not_start_fails_the_test_with_what_it_said(
    pytester: pytest.Pytester, debian_mpi: object
) -> None:
    job_suite(pytester, "pass")
    (pytester.path / "program").write_text("#!/bin/sh\necho the mesh is missing >&2; exit 3\n")
    said = runs(pytester, "-k", "test_one", failed=1, deselected=1)
    assert "the job ended (status 3) before" in said and "the mesh is missing" in said


@pytest.mark.slow
def test_the_ranks_are_read(pytester: pytest.Pytester, debian_mpi: object) -> None:
    demo.compile_demo(pytester.path)
    pytester.makepyfile(
        HEAD
        + """
def test_halo(mpi_job):
    job = mpi_job("./demo", ranks=3)
    snapshot = job.snapshot()
    assert [process.pid for process in snapshot.processes] == job.pids
    halo = snapshot.rank(1).communicator("halo")
    assert_queue(halo.pending_receives, [{"desired_local_rank": 2, "desired_tag": 20, "status": "pending"}])
    job.end()
    with pytest.raises(Exception, match="was ended"):
        job.snapshot()
"""
    )
    runs(pytester, passed=1)


def test_pytest_loads_nothing_that_takes_time_at_its_start() -> None:
    """How long the loading takes is measured by ``make bench``; here is what it loads: the plug-in, what Ctrl-C does
    while the command starts (nothing here), and nothing else of the package or of Python's own library."""
    code = (
        "import pytest, sys; before = set(sys.modules); import mpi_queues.pytest_plugin; "
        "print(*sorted(set(sys.modules) - before))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert loaded == ["mpi_queues", "mpi_queues.pytest_plugin", "mpi_queues.starting"]


def test_nothing_is_imported_from_a_debugger() -> None:
    code = "import sys, mpi_queues.pytest_plugin, mpi_queues.testing, mpi_queues.jobs; sys.exit('gdb' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=os.sep).returncode == 0
    assert isinstance(demo.RECORDING, pathlib.Path)
