"""Whole jobs in lldb: one target a rank, the launcher running on beside them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List

import pytest
from debuggers import LLDB, LLDB_LOADER, Lldb, slow_server
from driver import Terminal
from support import builds, processes
from support.builds import MpiBuild, compile_alone
from support.jobs import Job
from support.starters import MARK, Place, Started, Starter

lldb = Lldb()
PROMPT = "(lldb) "

#: Launchers with MPIR in a library, with MPIR in the program, stripped, and without MPIR.
LAUNCHERS = (builds.OPENMPI_4, "mpich-ch3-4.0.2", builds.DEBIAN_MPICH, builds.WHEEL)
#: Those that say when their ranks are there.
MPIR = LAUNCHERS[:2]


@pytest.fixture(params=LAUNCHERS)
def build(request: pytest.FixtureRequest, preflight: None) -> MpiBuild:
    return builds.BUILDS[request.param]()


@pytest.fixture
def started(debian_mpi: MpiBuild) -> Iterator[Started]:
    job = Started(debian_mpi, ranks=3)
    yield job
    job.end()


def launch(build: MpiBuild, place: Place, *, ranks: int = 3, options: str = "") -> str:
    program = compile_alone(build, "job_until_told.c")
    # A job that outlives lldb would keep the pipe open that the tests read lldb's output from.
    return f"mpi launch {options} {build.mpirun} -n {ranks} {program} {place.directory} > {place.directory}/output 2>&1"


def wait_for(place: Place, *names: str) -> str:
    """A command that waits until the job has written files."""
    paths = [str(place.directory / name) for name in names]
    return f"script import os, time; [time.sleep(0.01) for _ in iter(lambda: all(map(os.path.exists, {paths})), True)]"


def ranks_of(text: str) -> Dict[int, Any]:
    return {one["rank"]: one for one in json.loads(text)["processes"]}


@pytest.mark.usual("mpich-debian")
def test_a_job_is_launched_read_and_let_go(build: MpiBuild, place: Place) -> None:
    outputs = lldb.run(
        launch(build, place),
        "mpi ranks -format json",
        "target list",
        "mpi foreach all process status",
        "mpi foreach all continue",
        wait_for(place, "rank.0", "rank.1", "rank.2"),
        "mpi foreach all process interrupt",
        "mpi queues",
        'target select "rank 1"',
        "mpi foreach 0,2 expression my_rank",
        "mpi ranks",
        "mpi detach",
        "target list",
        environment=place.environment,
    )
    said, listed, targets, states, resumed, _, _, queues, _, values, table, gone, left = outputs
    assert "has started ranks 0-2; here are ranks 0-2." in said
    assert "You are in rank 0 (target #1)." in said
    words = " ".join(said.split())
    assert "The launcher runs on by itself. To resume all ranks, type: mpi foreach all continue" in words
    ranks = ranks_of(listed)
    assert {rank: one["pid"] for rank, one in ranks.items()} == {rank: place.pid(rank) for rank in range(3)}
    assert {one["held_by"] for one in ranks.values()} == {"target #1", "target #2", "target #3"}
    assert all(one["state"] == "stopped" for one in ranks.values())
    for rank in range(3):
        assert f"target #{rank + 1} (rank {rank}): " in targets
    assert "target #0 (launcher " in targets and "state=running" in targets.split("target #1")[0]
    assert states.count("stop reason") >= 3
    assert resumed == "ranks 0-2:\n  resuming\n"
    assert all(f"Rank {rank} of 3" in queues for rank in range(3))
    assert "rank 0:\n  (int) $0 = 0\n" in values and "rank 2:\n  (int) $0 = 2\n" in values
    # The selection of the user is kept.
    assert table.count("*") == 1 and "target #2 *" in table
    assert "the job runs on" in gone and "No targets" in left
    finishes(place, 3)


def finishes(place: Place, ranks: int) -> None:
    """The ranks run, untraced, and end when they are told to."""
    for rank in range(ranks):
        processes.assert_running(place.pid(rank))
    place.touch("finish")
    place.await_files(*(f"done.{rank}" for rank in range(ranks)))
    place.await_end()


@pytest.mark.parametrize("build", MPIR, indirect=True)
@pytest.mark.slow
def test_ranks_are_held_before_mpi_init_has_returned(build: MpiBuild, place: Place) -> None:
    lldb.run(
        launch(build, place),
        "mpi foreach all breakpoint set -n settled",
        "mpi foreach all continue",
        "script import lldb, time; d = lldb.debugger; [time.sleep(0.01) for _ in iter(lambda: all(d.GetTargetAtIndex(i)"
        ".GetProcess().GetState() == lldb.eStateStopped for i in range(1, 4)), True)]",
        f"script open({str(place.directory / 'seen')!r}, 'w').write(repr([(d.GetTargetAtIndex(i).GetProcess()"
        ".GetThreadAtIndex(0).GetFrameAtIndex(0).GetFunctionName(), d.GetTargetAtIndex(i).FindFirstGlobalVariable"
        "('my_rank').GetValue()) for i in range(1, 4)]))",
        environment=place.environment,
    )
    # All of them have come to the breakpoint, which stands right behind MPI_Init.
    assert (place.directory / "seen").read_text() == repr([("settled", str(rank)) for rank in range(3)])
    # lldb has ended without having been told to let go.
    place.await_files("rank.0", "rank.1", "rank.2")
    finishes(place, 3)


@pytest.mark.slow
def test_some_ranks_of_a_launch(mpir_mpi: MpiBuild, place: Place) -> None:
    said, table = lldb.run(launch(mpir_mpi, place, options="-ranks 1"), "mpi ranks", environment=place.environment)
    assert "has started ranks 0-2; here are rank 1." in said
    assert table.count("target #1 *") == 1 and "target #2" not in table
    place.await_files("rank.0", "rank.1", "rank.2")
    finishes(place, 3)


@pytest.mark.slow
def test_a_slow_server_of_lldb_is_waited_for(mpir_mpi: MpiBuild, place: Place) -> None:
    said, setting = lldb.run(
        launch(mpir_mpi, place, ranks=1),
        "settings show plugin.process.gdb-remote.packet-timeout",
        environment={**place.environment, **slow_server(place.directory)},
    )
    assert "has started rank 0" in said, said
    assert setting.endswith(" = 5\n"), setting
    place.await_files("rank.0")
    finishes(place, 1)


@pytest.mark.slow
def test_launchers_that_are_scripts(mpir_mpi: MpiBuild, place: Place) -> None:
    shell = place.directory / "launch.sh"
    shell.write_text(f'#!/bin/sh\necho through a script\nexec {mpir_mpi.mpirun} "$@"\n')
    python = place.directory / "launch.py"
    python.write_text(f"#!{sys.executable}\nimport subprocess, sys\nsubprocess.call(['{shell}', *sys.argv[1:]])\n")
    program = compile_alone(mpir_mpi, "job_until_told.c")
    for number, script in enumerate((shell, python)):
        script.chmod(0o755)
        inner = place.directory / str(number)
        inner.mkdir()
        said, listed, _ = lldb.run(
            f"mpi launch {script} -n 2 {program} {inner} > {inner}/output 2>&1",
            "mpi ranks -format json",
            "mpi detach",
            environment=place.environment,
        )
        assert "here are ranks 0 and 1." in said
        # One that only starts a launcher knows nothing of MPIR; one that becomes it does.
        assert ("does not have the MPIR interface" in said) == (script == python)
        processes.wait_until(lambda at=inner: all((at / f"rank.{rank}").exists() for rank in range(2)), "the ranks")
        pids = [int((inner / f"rank.{rank}").read_text()) for rank in range(2)]
        assert [ranks_of(listed)[rank]["pid"] for rank in range(2)] == pids
        assert (inner / "output").read_text().startswith("through a script\n")
        (inner / "finish").touch()
        place.await_end()


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("nosuchlauncher -n 2", "cannot start nosuchlauncher: no directory of PATH has such a program"),
        ("./no/such -n 2", "cannot start ./no/such: it does not exist"),
        ("/etc/passwd", "cannot start /etc/passwd: it is not executable"),
        ("/bin/true", "true ended with status 0 before it had started any rank"),
        ("/bin/sh -c 'kill -9 $$'", "sh was ended by signal 9 before it had started any rank"),
        ("/bin/sh -c 'kill -SEGV $$'", "sh got SIGSEGV before it had started its ranks"),
        ("/bin/true ( unclosed", "true ended with status 2 before it had started any rank"),
    ],
)
@pytest.mark.usual(
    "nosuchlauncher -n 2-cannot start nosuchlauncher: no directory of PATH has such a program",
    "/bin/true-true ended with status 0 before it had started any rank",
)
def test_what_is_no_launcher(place: Place, typed: str, message: str) -> None:
    failed, targets = lldb.run(f"mpi launch {typed}", "target list", environment=place.environment)
    assert failed.startswith(f"error: {message}")
    assert targets == "No targets.\n"
    place.await_end()


@pytest.mark.slow
def test_the_environment_and_the_program_of_lldb(mpir_mpi: MpiBuild, place: Place) -> None:
    program = compile_alone(mpir_mpi, "job_until_told.c")
    directory = str(place.directory)
    outputs = lldb.run(
        f"target create {mpir_mpi.mpirun}",
        f"settings set -- target.run-args -n 1 {program} {directory}",
        "settings set target.env-vars MPIQ_SEEN=yes",
        "mpi launch",
        "mpi launch mpirun -n 2 true",
        "mpi detach",
        wait_for(place, "rank.0"),
        f"script import shutil; shutil.copyfile('/proc/' + open('{directory}/rank.0').read() + '/environ', "
        f"'{directory}/environ')",
        f"script open('{directory}/finish', 'w').close()",
        environment=place.environment,
    )
    assert "here are rank 0." in outputs[3]
    assert outputs[4].startswith("error: mpi launch: a job is being debugged already")
    assert b"MPIQ_SEEN=yes" in (place.directory / "environ").read_bytes().split(b"\0")
    place.await_end()
    assert place.has("done.0")


@pytest.mark.slow
def test_attach_to_a_job(started: Started) -> None:
    pid = started.launcher.pid
    some, again, table, out, listed, everything, _ = lldb.run(
        f"mpi attach {pid} -ranks 0,2",
        "mpi attach -comm MPI_COMM_WORLD",
        "mpi ranks",
        "mpi detach 1",
        "mpi ranks -format json",
        "mpi attach -launcher",
        "mpi detach",
    )
    assert "attached to ranks 0 and 2; 1 more of the job" in some and "You are in rank 0 (target #0)" in some
    assert "attached to ranks 0-2." in again
    assert table.count("stopped") == 3
    assert out == "Detached from rank 1; the job runs on.\n"
    assert [one["held_by"] for one in ranks_of(listed).values()] == ["target #0", None, "target #1"]
    assert "The launcher runs on by itself." in everything
    started.assert_running()
    assert started.finish() == 0


@pytest.mark.slow
def test_only_members_of_a_communicator(comms_job: Job) -> None:
    truth = next(one for one in comms_job.truth[1]["communicators"] if one["group"] == [1])
    outputs = lldb.run(f"mpi attach {comms_job.pids[0]} -comm {truth['name']}", "mpi ranks -format json", "mpi detach")
    held = {rank for rank, one in ranks_of(outputs[1]).items() if one["held_by"]}
    assert held == {0} or held == {1}
    comms_job.assert_running()


@pytest.fixture
def three(debian_mpi: MpiBuild) -> Iterator[Job]:
    """Three ranks that hang, whose launcher does not end them when one has died."""
    with Job(debian_mpi, "truth_comms", ranks=3) as job:
        os.kill(job.launcher_pid, signal.SIGSTOP)
        yield job
        os.kill(job.launcher_pid, signal.SIGCONT)


def kill(pid: int) -> str:
    """A command that kills a process and waits until it is dead."""
    return (
        f"script import os, time; os.kill({pid}, {int(signal.SIGKILL)}); [time.sleep(0.01) for _ in "
        f"iter(lambda: open('/proc/{pid}/stat').read().rpartition(')')[2].split()[0], 'Z')]"
    )


@pytest.mark.slow
def test_a_rank_that_is_killed_while_it_is_stopped(three: Job) -> None:
    _, _, said, before, one, table, released = lldb.run(
        f"mpi attach {three.launcher_pid}",
        kill(three.pids[1]),
        "mpi foreach all expression truth_rank",
        "mpi ranks -format json",
        "mpi detach 1",
        "mpi ranks -format json",
        "mpi detach",
    )
    # lldb hears of it at some time after, when the server that it started for this rank ends.
    unheard = "rank 1:\n  error: the process has ended\n  to remove it, type: mpi detach RANK\n" in said
    assert unheard or "Left out, because not attached to: rank 1\n" in said
    assert "rank 0:\n  (int) $0 = 0\n" in said and "rank 2:\n  (int) $0 = 2\n" in said
    assert [held["held_by"] for held in ranks_of(before).values()][::2] == ["target #0", "target #2"]
    assert one.startswith(
        ("Detached from rank 1; the job runs on.\n", "error: mpi detach: not attached to any of: rank 1\n")
    )
    assert ranks_of(table)[1]["held_by"] is None
    assert released == "Detached from ranks 0 and 2; the job runs on.\n"
    for rank in (0, 2):
        processes.assert_running(three.pids[rank])


@pytest.mark.slow
def test_a_rank_that_is_killed_while_it_runs(three: Job) -> None:
    outputs = lldb.run(
        f"mpi attach {three.launcher_pid}",
        "mpi foreach 1 continue",
        kill(three.pids[1]),
        "script import lldb; [time.sleep(0.01) for _ in iter(lambda: lldb.debugger.GetTargetAtIndex(1).GetProcess()"
        ".GetState(), lldb.eStateExited)]",
        "mpi ranks -format json",
        "mpi foreach all expression truth_rank",
        "mpi detach",
    )
    assert [held["held_by"] for held in ranks_of(outputs[4]).values()] == ["target #0", None, "target #2"]
    assert outputs[5] == "rank 0:\n  (int) $0 = 0\nrank 2:\n  (int) $0 = 2\nLeft out, because not attached to: rank 1\n"
    assert outputs[6] == "Detached from ranks 0 and 2; the job runs on.\n"
    for rank in (0, 2):
        processes.assert_running(three.pids[rank])


def run_starter(job: Starter, *commands: str, options: str = "") -> List[str]:
    return lldb.run(
        f"mpi launch {options} {job.command} > {job.directory}/output 2>&1", *commands, environment=job.environment
    )


def test_a_launcher_is_told_of_the_debugger_and_its_gates_are_opened(starter: Callable[..., Starter]) -> None:
    job = starter("I_AM_STARTER", ranks=3)
    launched, table, _ = run_starter(job, "mpi ranks -format json", "mpi detach")
    assert job.said("being_debugged") == "1"
    launcher, *pids = job.truth()
    assert [one["pid"] for one in ranks_of(table).values()] == pids
    assert f"(pid {launcher}, target #0) has started ranks 0-2; here are ranks 0-2." in launched
    job.await_files("released.0", "released.1", "released.2")
    job.touch("finish")
    job.await_files("ended")
    assert job.said("ended") == "0"


@pytest.mark.slow
def test_a_launcher_that_is_itself_rank_0(starter: Callable[..., Starter]) -> None:
    job = starter(ranks=3)
    launched, table, _, states, _ = run_starter(
        job, "mpi ranks -format json", "mpi foreach all continue", "mpi ranks -format json", "mpi detach"
    )
    assert "The launcher does not say MPIR_i_am_starter: it is rank 0 itself.\n" in launched
    assert "The launcher is a rank itself, and stopped as the others are." in launched
    launcher, *pids = job.truth()
    assert pids[0] == launcher
    assert [(one["pid"], one["held_by"], one["state"]) for one in ranks_of(table).values()] == [
        (pid, f"target #{number}", "stopped") for number, pid in enumerate(pids)
    ]
    assert [one["state"] for one in ranks_of(states).values()] == ["running"] * 3
    job.touch("finish")
    job.await_files("ended")


@pytest.mark.slow
def test_a_part_of_the_ranks_where_each_waits_for_its_gate(starter: Callable[..., Starter]) -> None:
    job = starter("I_AM_STARTER", ranks=3)
    launched, table, _ = run_starter(job, "mpi ranks -format json", "mpi detach", options="-ranks 1")
    assert "does not say MPIR_partial_attach_ok: ranks 0 and 2 were attached to as well" in " ".join(launched.split())
    assert "You are in rank 1 " in launched
    assert [one["held_by"] is not None for one in ranks_of(table).values()] == [False, True, False]
    job.await_files("released.0", "released.1", "released.2")
    job.touch("finish")
    job.await_files("ended")


@pytest.mark.slow
def test_ranks_that_were_held_before_main(starter: Callable[..., Starter]) -> None:
    job = starter("I_AM_STARTER", "ACQUIRED_PRE_MAIN", rank_flags=("-DGATE", "-DPRE_MAIN"))
    launched, reached, _ = run_starter(job, "continue", "mpi detach")
    assert "The ranks were held before main:\n" in launched
    assert "int main(int argc, char **argv) {\n" in launched
    assert "stop reason = one-shot breakpoint" in reached or "`main(" in reached
    job.touch("finish")
    job.await_files("ended")


@pytest.mark.slow
def test_ranks_of_another_host_are_listed_and_out_of_reach(starter: Callable[..., Starter]) -> None:
    job = starter("I_AM_STARTER", remote=2)
    launched, table, _ = run_starter(job, "mpi ranks -format json", "mpi detach")
    assert "rank 2: runs on node7.example as pid 4242: out of reach from here\n" in launched
    _, *pids = job.truth()
    assert [one["pid"] for one in ranks_of(table).values()] == [*pids, 4242, 4243]
    assert [one["held_by"] for one in ranks_of(table).values()] == ["target #1", "target #2", None, None]


@pytest.mark.slow
def test_what_the_launcher_says_of_itself(starter: Callable[..., Starter]) -> None:
    job = starter("I_AM_STARTER", "SERVER", "ATTACH_FIFO", "PARTIAL_ATTACH_OK")
    # It runs: its memory is read all the same.
    table = run_starter(job, "mpi ranks -v -format json", "mpi detach")[1]
    assert json.loads(table)["job"]["mpir"] == {
        "MPIR_debug_state": "MPIR_DEBUG_SPAWNED",
        "MPIR_being_debugged": "1",
        "MPIR_proctable_size": "2",
        "MPIR_attach_fifo": f"{job.directory}/fifo",
        "MPIR_executable_path": "/opt/tool/server",
        "MPIR_server_arguments": "--port 7000 --quiet",
        "MPIR_i_am_starter": "the launcher is not itself a rank",
        "MPIR_partial_attach_ok": "the ranks go on once the launcher does, whether a debugger has them or not",
    }


@pytest.fixture
def terminal(place: Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    for name, value in place.environment.items():
        monkeypatch.setenv(name, value)
    with Terminal(command=[LLDB, "--no-lldbinit", "--no-use-colors"], prompt=PROMPT, columns=200) as debugger:
        debugger.run(f"command script import {LLDB_LOADER}")
        debugger.read_quiet()
        yield debugger


def typed(terminal: Terminal, command: str, *, until: str = "") -> str:
    terminal.send(command + "\n")
    return (terminal.read_until(until) if until else "") + terminal.read_quiet(1.0)


@pytest.mark.slow
def test_ranks_are_continued_and_interrupted_one_by_one(terminal: Terminal, mpir_mpi: MpiBuild, place: Place) -> None:
    said = typed(terminal, launch(mpir_mpi, place, ranks=2), until="or quit")
    assert "You are in rank 0 (target #1)" in said
    assert "resuming" in typed(terminal, "mpi foreach all continue", until="resuming")
    place.await_files("rank.0", "rank.1")
    terminal.send("\x03")
    terminal.read_until("stop reason = signal SIGSTOP")
    terminal.read_quiet()
    listed = typed(terminal, "target list")
    assert [line.rsplit("state=")[1].split(" ")[0] for line in listed.splitlines() if "state=" in line] == [
        "running",
        "stopped",
        "running",
    ]
    typed(terminal, 'target select "rank 1"')
    typed(terminal, "mpi foreach 1 process interrupt", until=PROMPT)
    assert "Rank 1 of 2" in typed(terminal, "mpi queues", until="2 processes")
    # What it says itself of letting go: it detaches, also from what it has launched.
    terminal.send("quit\n")
    assert "will detach from one or more processes" in terminal.read_until("[Y/n]")
    terminal.send("y\n")
    processes.wait_until(lambda: os.waitpid(terminal.pid, os.WNOHANG)[0] != 0, "the end of lldb")
    finishes(place, 2)


def test_ctrl_c_ends_a_launch(terminal: Terminal, place: Place) -> None:
    terminal.send("mpi launch /bin/sleep 1000\n")
    processes.wait_until(lambda: "sleep" in commands_of(place), "the launcher")
    terminal.read_quiet(1.0)
    terminal.send("\x03")
    terminal.read_until("error: interrupted")
    assert "No targets" in typed(terminal, "target list")
    processes.wait_until(lambda: "sleep" not in commands_of(place), "the end of the launcher")


def commands_of(place: Place) -> List[str]:
    found = []
    for pid in place.members():
        # It may end while it is asked.
        with contextlib.suppress(OSError):
            found.append(Path(f"/proc/{pid}/comm").read_text().strip())
    return found


@pytest.mark.slow
def test_the_end_of_a_job_is_told(terminal: Terminal, mpir_mpi: MpiBuild, place: Place) -> None:
    typed(terminal, launch(mpir_mpi, place, ranks=2), until="or quit")
    typed(terminal, "mpi foreach all continue", until="resuming")
    place.await_files("rank.0", "rank.1")
    place.touch("finish")
    seen = terminal.read_until("exited with status = 0")
    while seen.count("exited with status = 0") < 3:
        seen += terminal.read_until("exited with status = 0")
    assert "error: no job" in typed(terminal, "mpi ranks")
    # The targets of that job make room for those of another.
    (place.directory / "finish").unlink()
    again = typed(terminal, launch(mpir_mpi, place, ranks=1), until="or quit")
    assert "here are rank 0." in again
    listed = typed(terminal, "target list")
    assert listed.count("target #") == 2
    typed(terminal, "mpi detach", until="the job runs on")


@pytest.mark.slow
def test_the_abort_of_a_job_is_told(terminal: Terminal, place: Place, starter: Callable[..., Starter]) -> None:
    job = starter("I_AM_STARTER")
    typed(terminal, f"settings set target.env-vars {MARK}={job.directory}")
    typed(terminal, f"mpi launch {job.command}", until="or quit")
    typed(terminal, "mpi foreach all continue", until="resuming")
    job.touch("abort")
    told = terminal.read_until("(mpir_starter) stopped.")
    assert "The job is being aborted (MPIR_DEBUG_ABORTING): rank 1 called MPI_Abort(3)" in told
    terminal.read_quiet()
    # The launcher stands there, so that the ranks can be looked at.
    assert "state=stopped" in next(
        line for line in typed(terminal, "target list").splitlines() if "(launcher mpir_starter)" in line
    )
    typed(terminal, 'target select "launcher mpir_starter"')
    typed(terminal, "continue", until="exited with status = 7")


@pytest.mark.slow
def test_a_running_launcher_is_told_through_its_fifo(
    terminal: Terminal, place: Place, starter: Callable[..., Starter]
) -> None:
    job = starter("I_AM_STARTER", "ATTACH_FIFO")
    launcher = subprocess.Popen([job.program, *job.arguments], env={**os.environ, **job.environment})
    try:
        job.await_files("truth")
        assert job.said("being_debugged") == "0"
        seen = typed(terminal, f"mpi attach {launcher.pid} -launcher", until="You are in")
        assert f"The launcher was told of the debugger through {job.directory}/fifo." in seen
        seen += terminal.read_quiet(1.0)
        if "MPIR_DEBUG_SPAWNED" not in seen:
            seen += terminal.read_until("MPIR_DEBUG_SPAWNED")
        assert job.said("attached") == "1"
        typed(terminal, "mpi detach", until="the job runs on")
        job.await_files("released.0", "released.1")
        job.touch("finish")
        assert launcher.wait(60) == 0
    finally:
        launcher.kill()
        launcher.wait()
