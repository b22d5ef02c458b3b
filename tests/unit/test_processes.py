"""Facts from /proc, and leaving processes as they were found."""

from __future__ import annotations

import contextlib
import mmap
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
from typing import Iterator

import pytest
from mpi_queues import UserError, _native
from mpi_queues.cli import diagnose
from mpi_queues.launchers.tree import ProcessTree
from mpi_queues.system import attaching, mappings, processes
from mpi_queues.watching import ending
from support.processes import asleep


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    with asleep() as started:
        yield started


#: The main thread ends, and the other one goes on until something comes.
WITHOUT_MAIN = """
import ctypes, sys, threading
threading.Thread(target=sys.stdin.read).start()
print("ready", flush=True)
ctypes.CDLL(None).pthread_exit(None)
"""


def test_a_process_without_its_main_thread_lives_until_its_others_have_ended() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WITHOUT_MAIN],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "A": "b"},
    ) as child:
        pid = child.pid
        assert child.stdout is not None and child.stdin is not None and child.stdout.readline() == b"ready\n"
        deadline = time.monotonic() + 30
        while processes.status(pid)["State"][:1] != "Z":
            assert time.monotonic() < deadline, processes.status(pid)
            time.sleep(0.005)
        wait_for(pid, "S")
        assert not processes.has_ended(pid) and processes.state_word(pid) == "sleeping"
        assert not ending.await_end(pid, processes.start_time(pid), 0.0)
        attaching.check_readable(pid)
        assert processes.environment(pid, "A") == "b" and mappings.of_process(pid)
        assert processes.program_headers(pid, 8, sys.byteorder) is not None
        process = ProcessTree().get(pid)
        assert process is not None and process.letter == "S" and not process.ended
        held = _native.LiveProcesses()
        held.stop([pid], 20.0, None)
        assert held.failures == [] and held.session(pid) is not None
        held.release_all()
        os.kill(pid, signal.SIGSTOP)
        wait_for(pid, "T")
        os.kill(pid, signal.SIGCONT)
        wait_for(pid, "S")
        child.stdin.close()
        wait_for(pid, "Z")
        assert processes.has_ended(pid) and ending.await_end(pid, processes.start_time(pid), 0.0)
        with pytest.raises(UserError, match="a zombie"):
            attaching.check_readable(pid)


def wait_for(pid: int, state: str) -> None:
    deadline = time.monotonic() + 30
    while processes.state(pid) not in state:
        assert time.monotonic() < deadline, processes.status(pid)
        time.sleep(0.005)


def test_a_process_that_was_left_stopped_goes_on(child: subprocess.Popen[bytes]) -> None:
    os.kill(child.pid, signal.SIGSTOP)
    wait_for(child.pid, "T")
    attaching.restore_state(child.pid, processes.start_time(child.pid), False)
    wait_for(child.pid, "S")


def test_a_process_that_was_stopped_is_stopped_again(child: subprocess.Popen[bytes]) -> None:
    attaching.restore_state(child.pid, processes.start_time(child.pid), True)
    wait_for(child.pid, "T")


def test_another_process_with_the_same_pid_is_left_alone(child: subprocess.Popen[bytes]) -> None:
    os.kill(child.pid, signal.SIGSTOP)
    wait_for(child.pid, "T")
    attaching.restore_state(child.pid, 12345, False)
    assert processes.state(child.pid) == "T"


def test_names_of_processes_may_hold_anything(tmp_path: pathlib.Path) -> None:
    program = tmp_path / "a) R 1 (b"
    program.symlink_to("/usr/bin/sleep")
    child = subprocess.Popen([str(program), "600"])
    try:
        assert processes.start_time(child.pid) is not None
        wait_for(child.pid, "S")
    finally:
        child.kill()
        child.wait()


def unprivileged(code: str) -> subprocess.CompletedProcess[str]:
    """Runs Python code as nobody, or as this user where that is not root."""
    demote = "import os\nif os.geteuid() == 0:\n    os.setgid(65534); os.setuid(65534)\n"
    python = pathlib.Path(os.path.realpath("/usr/bin/python3"))
    package = pathlib.Path(processes.__file__).parents[2]
    # Imported before the change of user: the source tree may be closed to others.
    load = f"import sys; sys.path.insert(0, {str(package)!r}); from mpi_queues.system import attaching\nimport pwd\n"
    return subprocess.run([str(python), "-c", load + demote + code], capture_output=True, text=True, check=False)


def test_a_process_of_somebody_else_names_both_users() -> None:
    run = unprivileged("import os\ntry: attaching.check_readable(1)\nexcept Exception as error: print(error)")
    assert "pid 1: belongs to root (uid 0), and you are" in run.stdout, run.stderr
    assert "sudo -u root" in run.stdout


@pytest.mark.parametrize(("scope", "named"), [(1, "sysctl kernel.yama.ptrace_scope=0"), (3, "until the next boot")])
def test_the_sysctl_that_forbids_attaching_is_named(
    scope: int, named: str, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, child: subprocess.Popen[bytes]
) -> None:
    yama = tmp_path / "ptrace_scope"
    yama.write_text(f"{scope}\n")
    monkeypatch.setattr(attaching, "_YAMA", yama)
    monkeypatch.setattr(attaching.os, "geteuid", lambda: 1000)

    def refuse(path: str, flags: int) -> int:
        raise PermissionError(13, "Permission denied")

    fields = {**processes.status(child.pid), "Uid": "1000\t1000\t1000\t1000"}
    # For this alone: pytest opens files, too.
    with monkeypatch.context() as patched, pytest.raises(UserError) as error:
        patched.setattr(attaching.os, "open", refuse)
        attaching._check_permission(child.pid, fields)
    assert named in str(error.value)
    assert str(yama) in str(error.value)


def test_who_computes_has_had_a_processor_and_who_sleeps_wants_none(child: subprocess.Popen[bytes]) -> None:
    wait_for(child.pid, "S")
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        before = processes.run_time(busy.pid)
        deadline = time.monotonic() + 30
        while (processes.run_time(busy.pid) or 0.0) < (before or 0.0) + diagnose.RAN:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        assert diagnose.starved({busy.pid: before, child.pid: processes.run_time(child.pid)}, patience=0.0) == []
        # As if it had run for the rest of its life already.
        assert diagnose.starved({busy.pid: 1e9, child.pid: 1e9}, patience=0.0) == [busy.pid]
        assert diagnose.starved({busy.pid: None}, patience=0.0) == []
    finally:
        busy.kill()
        busy.wait()
    assert processes.run_time(busy.pid) is None
    assert not processes.wants_processor(busy.pid)


@pytest.mark.parametrize("end", ["\r", "\v", "\x1c", "\x85", "\u2028"])
def test_a_name_with_the_end_of_a_line_makes_no_line_of_its_own(tmp_path: pathlib.Path, end: str) -> None:
    """Of a path the kernel writes a newline as \\012, and everything else as it is."""
    files = []
    for number, (made_up, name) in enumerate(
        (
            (f"{end}nowhere-nothing r-xs what 00:00 much ", "x"),
            (f"{end}1000-2000 rwxs 00000000 00:00 1 ", "libmpi.so.12"),
        )
    ):
        # A directory, for what stands behind it then begins with a slash, as paths do.
        directory = tmp_path / f"{number}{made_up}"
        directory.mkdir()
        files.append(directory / name)
        files[-1].write_bytes(bytes(mmap.PAGESIZE))
    pid = os.getpid()
    with contextlib.ExitStack() as stack:
        for path in files:
            file = stack.enter_context(path.open("r+b"))
            stack.enter_context(mmap.mmap(file.fileno(), 0))
        listed = mappings.of_process(pid)
        assert listed is not None
        assert [mapping.name for mapping in listed if mapping.start == 0x1000] == []
        assert [address for address, _ in _native.message_memory(pid) if address == 0x1000] == []
        assert not ProcessTree().has_mpi(pid)


def test_what_anybody_may_know_of_a_process(child: subprocess.Popen[bytes]) -> None:
    assert re.fullmatch(
        r"it is (sleeping|running)( \(in the kernel's \w+\))?, and used \d+\.\d s of CPU",
        processes.known_without_rights(child.pid),
    )
    assert processes.known_without_rights(99999999) == ""


def test_a_frozen_process_is_told(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pid = os.getpid()
    own = next(line for line in pathlib.Path(f"/proc/{pid}/cgroup").read_text().splitlines() if line.startswith("0::"))
    group = tmp_path / own[3:].lstrip("/")
    group.mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr(processes, "_control_groups", lambda: tmp_path)
    events = group / "cgroup.events"
    events.write_text("populated 1\nfrozen 1\n")
    assert processes.word_of(pid, "S") == "frozen" and processes.word_of(pid, "Z") == "zombie"
    events.write_text("populated 1\nfrozen 0\n")
    assert processes.word_of(pid, "S") == "sleeping"
    events.unlink()
    assert processes.word_of(pid, "S") == "sleeping" and processes.word_of(pid, "") == "ended"
