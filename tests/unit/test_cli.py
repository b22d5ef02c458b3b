"""Arguments, exit status and messages of the command line."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import time
from typing import Iterator, List, Optional

import mpi_queues
import pytest
from mpi_queues.cli import command_line as cli
from mpi_queues.cli.demo import RECORDING
from mpi_queues.errors import UsageError
from mpi_queues.launchers import finding
from mpi_queues.system import agent
from support import processes
from support.paths import PROJECT

COMMANDS: List[List[str]] = [
    [],
    ["diagnose"],
    ["report"],
    ["show"],
    ["comms"],
    ["record"],
    ["recording"],
    ["recording", "info"],
    ["layouts"],
    ["layouts", "list"],
    ["layouts", "show"],
    ["layouts", "check"],
    ["layouts", "make"],
    ["init"],
    ["demo"],
    ["run"],
    ["watch"],
    ["completion"],
    ["help"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command) or "mpi-queues")
def test_each_help_has_an_example(command: List[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main([*command, "--help"])
    assert ended.value.code == 0
    assert "\nexample" in capsys.readouterr().out


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    assert ended.value.code == 0
    first, *parts = capsys.readouterr().out.splitlines()
    assert first == f"mpi-queues {mpi_queues.__version__}"
    said = dict(line.split(": ", 1) for line in parts)
    assert list(said) == ["core", "layouts", "agent", "recorder"]
    assert said["core"].startswith(f"{mpi_queues.__version__}, JSON mpi-queues/1, /")
    profiles = len(list((PROJECT / "layouts").glob("[a-z]*-[0-9]*.json")))
    assert said["layouts"].startswith(f"{profiles} profiles: Open MPI 4.1 to 6.0.0, MPICH 3.4 to 5.0, ")


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo mpi-queues-agent 9.8.7", "9.8.7, protocol {protocol}, {path}"),
        ("exit 3", "{path} does not run here: "),
        (None, "none; this mpi-queues was built without mpi-queues-agent: there is no {path}; "),
    ],
)
def test_the_version_of_the_agent_is_what_it_says_itself(
    script: Optional[str],
    said: str,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "agent"
    if script is not None:
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    monkeypatch.setattr(agent, "_PLACE", path)
    with pytest.raises(SystemExit):
        cli.main(["--version"])
    wanted = said.format(path=path, protocol=mpi_queues._native.AGENT_PROTOCOL)
    assert f"\nagent: {wanted}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["show", "--pid", "x"], "x: not a process id"),
        (["show", "--pid", "0"], "0: not a process id"),
        (["show", "--pid", "-5"], "--pid"),
        (["show", "--pid", "99999999999"], "not a process id"),
        (["show", "--exe", "a.out"], "--core CORE --exe a.out"),
        (["show", "--exe", "a.out", "--core", "core"], "--core CORE --exe a.out"),
        (["show", "--core", "core", "--exe", "a.out", "--exe", "b.out"], "--core CORE --exe b.out"),
        (["show", "--pid", "1", "--exe", "a.out"], "--exe a.out does not follow"),
        (["show", "--pid", "1", "--via", "ptrace"], "argument --via: ptrace: not one of auto, native"),
        (["show", "--pid", "1", "--format", "xml"], "xml"),
        (["show", "--pid", "1", "--source", "magic"], "plugin=PATH"),
        (["show", "--pid", "1", "--source", "plugin="], "plugin=PATH"),
        (["show", "--pid", "1", "--timeout", "0"], "seconds"),
        (["show", "--pid", "1", "--timeout", "nan"], "seconds"),
        (["show", "--pid", "1", "--limit", "-1"], "--limit"),
        (["show", "--pid", "1", "--rank", "one"], "one"),
        (["show", "--pid", "1", "--compare", "--format", "json"], "--compare"),
        (["show", "--pid", "1", "--layouts", "/nowhere/none.json"], "/nowhere/none.json: no such file"),
        (["record", "--pid", "1"], "--output"),
        (["layouts", "show", "nix"], "openmpi-4.1"),
        (["nix"], "nix"),
        ([], "COMMAND"),
    ],
)
def test_bad_usage_is_status_2_and_named(arguments: List[str], named: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status = cli.main(arguments)
    except SystemExit as ended:
        status = ended.code  # type: ignore[assignment]
    captured = capsys.readouterr()
    assert status == 2
    assert captured.out == ""
    assert named in captured.err
    assert "Traceback" not in captured.err


@pytest.mark.parametrize("words", [["show"], ["record", "-o", "x.mpirec"], ["watch", "-o", "x"], ["layouts", "check"]])
def test_without_a_target_and_without_a_job(
    words: List[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(finding, "launchers", lambda tree: [])
    said = failing(words, capsys)
    assert said.startswith("mpi-queues: no MPI launcher is running here") and "--pid PID" in said


@pytest.mark.parametrize("words", [["show"], ["stacks", "--threads"], ["record", "-o", "x"], ["layouts", "check"]])
def test_without_a_target_and_with_several_jobs(
    words: List[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with processes.asleep() as one, processes.asleep() as two:
        monkeypatch.setattr(finding, "launchers", lambda tree: [one.pid, two.pid])
        first, *listed, hint = failing(words, capsys).splitlines()
    assert first == "mpi-queues: 2 launchers are running:"
    assert [line.split(":")[0] for line in listed] == [f"  pid {one.pid}", f"  pid {two.pid}"]
    option = ["--job"] if words[0] == "layouts" else []
    assert hint == f"name one by its pid, such as: mpi-queues {' '.join([*words, *option, str(one.pid)])}"


def no_such_pid() -> int:
    ended = subprocess.Popen(["true"])
    ended.wait()
    return ended.pid


def failing(arguments: List[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert cli.main(arguments) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def test_no_such_process(capsys: pytest.CaptureFixture[str]) -> None:
    pid = no_such_pid()
    assert f"pid {pid}: no such process" in failing(["show", "--pid", str(pid)], capsys)


def test_a_zombie(capsys: pytest.CaptureFixture[str]) -> None:
    child = subprocess.Popen(["true"])
    while pathlib.Path(f"/proc/{child.pid}/stat").read_text().split()[2] != "Z":
        time.sleep(0.01)
    said = failing(["show", "--pid", str(child.pid)], capsys)
    child.wait()
    assert f"pid {child.pid}: a zombie" in said


def test_a_thread(capsys: pytest.CaptureFixture[str]) -> None:
    import threading

    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    said = failing(["show", "--pid", str(thread.native_id)], capsys)
    stop.set()
    thread.join()
    assert f"a thread of the process {os.getpid()}" in said


def test_a_process_that_is_not_mpi(capsys: pytest.CaptureFixture[str]) -> None:
    with processes.asleep() as child:
        said = failing(["show", "--pid", str(child.pid)], capsys)
        assert "not an MPI process" in said
        assert child.poll() is None


def test_layouts_of_ones_own_are_a_profile(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.json"
    other.write_text('{"schema": "other"}')
    with processes.asleep() as child:
        error = failing(["comms", "--pid", str(child.pid), "--layouts", str(other)], capsys)
        assert f"cannot use the layout profile {other}: not a layout profile" in error
        assert "layouts make --help" in error


@pytest.mark.debugger
def test_a_process_that_is_traced_already(sleeper: subprocess.Popen[bytes], capsys: pytest.CaptureFixture[str]) -> None:
    tracer = subprocess.Popen(
        ["gdb", "-nx", "-q", "-iex", "set debuginfod enabled off", "-p", str(sleeper.pid)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while f"TracerPid:\t{tracer.pid}" not in pathlib.Path(f"/proc/{sleeper.pid}/status").read_text():
            assert tracer.poll() is None
            time.sleep(0.01)
        said = failing(["show", "--pid", str(sleeper.pid)], capsys)
        assert f"already traced by pid {tracer.pid} (gdb)" in said
    finally:
        tracer.communicate(b"detach\nquit\n")


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with processes.asleep() as child:
        yield child


@pytest.mark.parametrize("debugger", ["gdb", "lldb"])
def test_the_command_line_starts_no_debugger(debugger: str, capsys: pytest.CaptureFixture[str]) -> None:
    pid = no_such_pid()
    instead = f"start one yourself ({debugger} -p PID) and type in it: mpi diagnose"
    with pytest.raises(SystemExit) as ended:
        cli.main(["show", "--pid", str(pid), "--via", debugger])
    assert ended.value.code == 2 and instead in capsys.readouterr().err
    with pytest.raises(UsageError, match=re.escape(instead)):
        mpi_queues.attach(pid=pid, via=debugger)
    assert "no such process" in failing(["show", "--pid", str(pid), "--via", "native"], capsys)


def test_one_of_two_that_cannot_be_read_is_told_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    gone = no_such_pid()
    assert cli.main(["show", "--recording", str(RECORDING), "--pid", str(gone), "--format", "json"]) == 1
    captured = capsys.readouterr()
    assert '"rank": 2' in captured.out
    assert f"pid {gone}: no such process" in captured.err


def test_an_unknown_communicator_is_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["show", "--recording", str(RECORDING), "--comm", "nix"]) == 2
    assert "'nix'" in capsys.readouterr().err


def test_a_closed_pipe_is_not_an_error_message() -> None:
    command = f"{sys.executable} -m mpi_queues.cli layouts show openmpi-4.1 | head -c 10"
    run = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert run.stderr == ""


@pytest.mark.parametrize(
    "words",
    [
        ["show", "--compare"],
        ["layouts", "check"],
        ["show", "--source", "recorder"],
        ["show", "--layouts", str(PROJECT / "layouts" / "openmpi-5.0.json")],
        ["record", "-o", "hang", "--layouts", str(PROJECT / "layouts" / "openmpi-5.0.json")],
    ],
    ids=" ".join,
)
def test_what_agents_cannot_do_is_refused(words: List[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*words, "--job", "hosts:localhost"]) == 3
    said = capsys.readouterr()
    assert said.out == ""
    assert re.fullmatch(r"mpi-queues: hosts:localhost: agents .*\n(type|leave out) .*--.*\n", said.err), said.err
