"""What only lldb has: the loader, its settings, its ways to change and to reach a process."""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import socket
import subprocess
from typing import List

import pytest
from debuggers import LLDB, LLDB_LOADER, Lldb
from mpi_queues.cli import init
from support import processes
from support.builds import MpiBuild
from support.jobs import Job
from support.memory import address_of_name

lldb = Lldb()


def lldb_batch(*commands: str, environment: dict[str, str] | None = None) -> str:
    """What lldb's own batch mode prints; it ends at the first command that fails."""
    words = [word for command in commands for word in ("-o", command)]
    run = subprocess.run(
        [LLDB, "--no-lldbinit", "--batch", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
        env=environment,
    )
    return run.stdout


def test_batch_mode(comms_job: Job) -> None:
    output = lldb_batch(
        f"command script import {LLDB_LOADER}", f"process attach -p {comms_job.pids[0]}", "mpi queues", "mpi comms"
    )
    comms_job.assert_running()
    assert "\n(lldb) mpi queues\nRank 0 of 2" in output
    assert "MPI_COMM_SELF" in output.split("(lldb) mpi comms")[1]


def test_its_setting_is_the_users_again(comms_job: Job) -> None:
    output = lldb_batch(
        "settings set plugin.process.gdb-remote.packet-timeout 7",
        f"command script import {LLDB_LOADER}",
        f"mpi attach {comms_job.launcher_pid}",
        "settings show plugin.process.gdb-remote.packet-timeout",
        "mpi detach",
    )
    assert re.search(r"packet-timeout \(unsigned\) = 7$", output, re.MULTILINE), output
    assert "attached to ranks 0 and 1" in output
    comms_job.assert_running()


def test_a_command_that_fails_has_a_status(comms_job: Job) -> None:
    results = lldb.results(
        *lldb.attach(comms_job.pids[0]), "mpi queues", "mpi queues -comm nix", "mpi config timeout 0"
    )
    assert [result[2] for result in results] == [True, True, False, False]
    assert results[1][0] and not results[1][1]
    assert not results[2][0] and results[2][1].startswith("error: no communicator is named 'nix'")


def test_errors_of_settings() -> None:
    wrong = {
        "timeout 0": "timeout 0: not a time of 1 to 1000000 seconds; nothing was changed\n"
        "type, for example: mpi config",
        "timeout ²": "timeout ²: not a time of 1 to 1000000 seconds; nothing was changed\n",
        "source magic": "source magic: not one of auto, builtin, plugin, recorder; nothing was changed\n",
        "limit 0": "limit 0: neither a number of rows nor 'unlimited'; nothing was changed\n",
        "internal 2": "internal 2: neither on nor off; nothing was changed\n",
    }
    for message, output in zip(wrong.values(), lldb.run(*(f"mpi config {words}" for words in wrong))):
        assert output.startswith(f"error: mpi config {message}")


def test_other_words_than_settings() -> None:
    unknown, more = lldb.run("mpi config nix", "mpi config limit 3 4")
    assert unknown.startswith(
        "error: mpi config: there is no setting 'nix'; the settings are source, plugin-path, internal,"
    )
    assert more.startswith("error: mpi config: does not take the argument '4'\ntype: help mpi config")


def test_settings_are_shown_and_changed() -> None:
    before, *quiet, after, one = (
        lldb.run(
            "mpi config",
            "mpi config limit unlimited",
            "mpi config internal on",
            "mpi config plugin-path /a:/b",
            "mpi config plugin-path",
            "mpi config",
        )[:2]
        + lldb.run("mpi config source plugin", "mpi config source", "mpi config")[1:]
    )
    assert [line.split(":")[0] for line in before.splitlines()] == [
        "source",
        "plugin-path",
        "internal",
        "limit",
        "timeout",
        "layouts",
        "wrappers",
    ]
    assert quiet == [""]
    assert after == 'The source of message queues is "plugin".\n'
    assert 'source:  The source of message queues is "plugin".\n' in one


def test_help_as_lldb_shows_it() -> None:
    container, queues, config = lldb.run("help mpi", "help mpi queues", "help mpi config")
    for name in ("queues", "comms", "info", "plugin", "config", "help"):
        assert re.search(rf"^\s+{name}\s+-- ", container, re.MULTILINE), container
    assert "--format" in queues and "Values: text | json" in queues
    assert "mpi queues -comm halo -rank 1" in queues
    assert "mpi config limit unlimited" in config


def test_importing_twice_and_through_links(comms_job: Job, tmp_path: pathlib.Path) -> None:
    link = tmp_path / "mpi_queues.py"
    link.symlink_to(LLDB_LOADER)
    attach = lldb.attach(comms_job.pids[0])
    loads = [f"command script import {LLDB_LOADER}", f"command script import {link}", f"command script import {link}"]
    results = lldb.results(*loads, *attach, "mpi queues", load=False)
    assert all(result[2] for result in results), results
    assert results[-1][0].startswith("Rank 0 of 2")


def test_two_debuggers_in_one_program_have_settings_of_their_own() -> None:
    output = lldb_batch(
        f"command script import {LLDB_LOADER}",
        "mpi config limit 7",
        "script other = lldb.SBDebugger.Create()",
        "script r = lldb.SBCommandReturnObject()",
        f"script other.GetCommandInterpreter().HandleCommand('command script import {LLDB_LOADER}', r)",
        "script other.GetCommandInterpreter().HandleCommand('mpi config limit', r); print(r.GetOutput(), r.GetError())",
        "script lldb.SBDebugger.Destroy(other)",
        "mpi config limit",
    )
    assert "At most 200 operations" in output
    assert output.rstrip().endswith("At most 7 operations of a queue are shown.")


def test_without_the_compiled_part(tmp_path: pathlib.Path) -> None:
    package = LLDB_LOADER.resolve().parents[2]
    copy = tmp_path / "mpi_queues"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    output = lldb_batch(f"command script import {copy / 'data' / 'lldb-scripts' / 'mpi_queues.py'}")
    assert "mpi-queues: the compiled part cannot be loaded" in output
    assert "Traceback" not in output


def test_the_line_of_init_gives_a_working_lldb(comms_job: Job, tmp_path: pathlib.Path) -> None:
    (tmp_path / ".lldbinit").write_text(init.line_for("lldb") + "\n")
    run = subprocess.run(
        [LLDB, "--batch", "-p", str(comms_job.pids[0]), "-o", "mpi queues"],
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Rank 0 of 2, pid" in run.stdout, run.stderr
    comms_job.assert_running()


def test_commands_of_an_lldb_that_takes_no_options_apart(comms_job: Job) -> None:
    """As lldb 14, which has no ``command script add --parsed``."""
    old = "script import sys; sys.modules['lldb.plugins.parsed_cmd'] = None"
    commands = [
        "mpi queues -format=json",
        "mpi config limit 3",
        "mpi config limit",
        "mpi queues -nix",
        "help mpi queues",
    ]
    results = lldb.results(
        old,
        f"command script import {LLDB_LOADER}",
        *lldb.attach(comms_job.pids[0]),
        *commands,
        "mpi queues -nix",
        "help mpi queues",
        load=False,
    )[3:]
    assert json.loads(results[0][0])["processes"][0]["rank"] == 0
    assert results[2][0] == "At most 3 operations of a queue are shown.\n"
    assert results[3][1] == "error: mpi queues: there is no option -nix\ntype: help mpi queues\n"
    assert "mpi queues -comm halo -rank 1" in results[4][0]


def test_nothing_that_is_selected_changes(blocked_job: Job) -> None:
    look = ["thread info", "frame info"]
    outputs = lldb.at(blocked_job, 0, "thread select 2", "frame select 1", *look, "mpi queues", "mpi info", *look)
    assert outputs[2:4] == outputs[6:8]
    assert "thread #2" in outputs[2] and "frame #1" in outputs[3]


def name_of_comm_self(job: Job, rank: int) -> int:
    snapshot = json.loads(lldb.at_rank(job, rank, "mpi comms -format json"))
    (comm,) = [comm for comm in snapshot["processes"][0]["communicators"] if comm["name"] == "MPI_COMM_SELF"]
    return address_of_name(job.pids[rank], int(comm["handle"], 16), "MPI_COMM_SELF")


@pytest.mark.parametrize("how", ["memory write", "expression"])
@pytest.mark.slow
def test_a_write_at_the_same_stop_is_seen(debian_mpi: MpiBuild, how: str) -> None:
    with Job(debian_mpi, "truth_comms", ranks=2) as job:
        address = name_of_comm_self(job, 0)
        write = (
            f"memory write {address:#x} 0x41" if how == "memory write" else f"expression -- *(char *){address:#x} = 65"
        )
        before, _, after = lldb.at(job, 0, "mpi comms", write, "mpi comms")
    assert "MPI_COMM_SELF" in before and "API_COMM_SELF" not in before
    assert "API_COMM_SELF" in after


UNTIL_IT_RUNS = """import time
for _ in range(3000):
    if lldb.debugger.GetSelectedTarget().GetProcess().GetState() == lldb.eStateRunning: break
    time.sleep(0.01)
"""


@pytest.mark.slow
def test_a_process_that_runs_is_not_read(blocked_job: Job) -> None:
    output = lldb_batch(
        f"command script import {LLDB_LOADER}",
        f"process attach -p {blocked_job.pids[0]}",
        "script lldb.debugger.SetAsync(True)",
        "process continue",
        # lldb's own thread takes notice of it, which takes a while on a busy machine.
        f"script exec({UNTIL_IT_RUNS!r})",
        "mpi queues",
    )
    blocked_job.assert_running()
    assert output.rstrip().endswith("error: target #0 is running\ntype: process interrupt"), output


@pytest.mark.slow
def test_a_process_that_ends_while_lldb_has_it(debian_mpi: MpiBuild) -> None:
    with Job(debian_mpi, "truth_comms", ranks=2) as job:
        attach = lldb.attach(job.pids[1])
        kill = f"script import os; os.kill({job.pids[1]}, 9); import time; time.sleep(0.2)"
        killed = lldb.run(*attach, "mpi queues", kill, "mpi queues", "process detach", "mpi queues")[len(attach) :]
    assert killed[0].startswith("Rank 1 of 2")
    # lldb knows of it when it next waits for the process.
    for output in (killed[2], killed[4]):
        assert re.search(r"^error: the process ended while it was read|nothing is being debugged", output), killed


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@pytest.mark.parametrize(
    "server", [["gdbserver", "--once", "--attach"], ["lldb-server-19", "gdbserver", "--attach"]], ids=lambda it: it[0]
)
@pytest.mark.usual("gdbserver")
def test_the_same_through_a_server(comms_job: Job, server: List[str]) -> None:
    place = f"127.0.0.1:{free_port()}"
    pid = str(comms_job.pids[0])
    # gdbserver wants the pid last, lldb-server after its option.
    command = [*server, place, pid] if server[0] == "gdbserver" else [*server, pid, place]
    running = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        processes.wait_until(lambda: processes.tracer(int(pid)) == running.pid, "the server to attach")
        commands = [f"target create {comms_job.program}", f"gdb-remote {place}", "mpi queues -format json"]
        remote = json.loads(lldb.run(*commands, "process detach")[2])["processes"][0]
    finally:
        try:
            running.wait(30)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()
            raise
    comms_job.assert_running()
    local = json.loads(lldb.at_rank(comms_job, 0, "mpi queues -format json"))["processes"][0]
    assert remote["host"] is None
    assert remote["communicators"] == local["communicators"]


@pytest.mark.slow
def test_detaching_and_attaching_to_another(comms_job: Job) -> None:
    first, second = comms_job.pids
    outputs = lldb.run(
        f"process attach -p {first}", "mpi queues", "process detach", f"process attach -p {second}", "mpi queues"
    )
    comms_job.assert_running()
    assert outputs[1].startswith(f"Rank 0 of 2, pid {first}")
    assert outputs[4].startswith(f"Rank 1 of 2, pid {second}")


def test_lldb_leaves_nobody_traced(comms_job: Job) -> None:
    lldb.at_rank(comms_job, 0, "mpi queues")
    processes.wait_until(lambda: processes.tracer(comms_job.pids[0]) == 0, "lldb to let go")
