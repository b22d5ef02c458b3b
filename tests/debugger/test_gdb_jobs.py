"""Whole jobs in gdb: launched by the MPIR protocol, attached to while they run, and let go. Truth is what the ranks
themselves write down."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Tuple

import pytest
from debuggers import Gdb
from driver import LOADER as GDB_LOADER
from driver import PROMPT, Terminal
from mpi_queues.jobs import Job as AnyJob
from support import builds, processes
from support.builds import MpiBuild, compile_alone
from support.jobs import Job
from support.starters import Place, Started, Starter

GDB = Gdb()

#: Of each kind of launcher one: MPIR with types, without, none at all, and one that becomes another program.
LAUNCHERS = (builds.OPENMPI_4, "mpich-ch3-4.0.2", builds.DEBIAN_MPICH, builds.WHEEL)


def speaks(build: MpiBuild) -> bool:
    """Whether its launcher has MPIR_Breakpoint."""
    return build.series == "4.1" or build.id.startswith("mpich-ch3")


@pytest.fixture(params=LAUNCHERS)
def build(request: pytest.FixtureRequest, preflight: None) -> MpiBuild:
    try:
        return builds.BUILDS[request.param]()
    except builds.Missing as missing:
        pytest.fail(str(missing))


@pytest.fixture(scope="module")
def four(debian_mpi: MpiBuild) -> Iterator[Job]:
    """Four ranks with communicators of every kind; all hang in pause()."""
    with Job(debian_mpi, "truth_comms", ranks=4) as job:
        yield job


def run(place: Place, *commands: str) -> List[str]:
    """What each command prints."""
    return GDB.run("set pagination off", *commands, environment=place.environment)[1:]


def ranks_of(text: str) -> List[Tuple[Any, ...]]:
    """Rank, world, process id and what has it, from ``mpi ranks -format json``."""
    return [
        (one["rank"], one["world"], one["pid"], one["held_by"])
        for one in json.loads(text[text.index("{") :])["processes"]
    ]


def inferiors(text: str) -> Dict[int, int]:
    """Numbers and process ids of ``info inferiors``."""
    return {int(m[1]): int(m[2]) for m in re.finditer(r"^[* ] (\d+) +process (\d+) ", text, re.MULTILINE)}


def of(job: AnyJob) -> str:
    return str(job.launcher_pid)


def until(pid: int, letter: str) -> str:
    """A command of the shell that waits until the kernel gives a process that state."""
    return f"while ! grep -q '^State:.{letter}' /proc/{pid}/status; do sleep 0.01; done"


# Launching


@pytest.mark.usual("mpich-debian")
def test_a_job_is_launched_with_all_its_ranks(build: MpiBuild, place: Place) -> None:
    program = compile_alone(build, "job_until_told.c")
    # They are held before MPI_Init has returned; without MPIR they stand anywhere, on a busy machine behind that.
    function = "settled" if speaks(build) else "waiting"
    launched, table, listed, broken, reached, said, released = run(
        place,
        f"mpi launch {build.mpirun} -n 2 {program} {place.directory}",
        "mpi ranks -format json",
        "info inferiors",
        f"break {function}",
        "continue",
        "mpi foreach all output my_size",
        "mpi detach",
    )
    assert "You are in rank 0 (inferior 2).\n" in launched
    assert ("does not have the MPIR interface" in launched) == (not speaks(build))
    held = ranks_of(table)
    assert [one[:2] for one in held] == [(0, 0), (1, 0)]
    assert [one[3] for one in held] == ["inferior 2", "inferior 3"]
    assert "Breakpoint 1" in broken
    assert "hit Breakpoint 1" in reached
    assert "ranks 0 and 1:\n  2\n" in said or "rank 0:\n  2" in said or "rank 1:\n  2" in said
    assert re.fullmatch(r"Detached from ranks 0 and 1 and launcher \S+; the job runs on\.\n", released)
    # What gdb had was what the ranks say of themselves, and the job goes on to its own end.
    place.await_files("rank.0", "rank.1")
    assert [one[2] for one in held] == [place.pid(0), place.pid(1)]
    assert {place.pid(0), place.pid(1)} < set(inferiors(listed).values())
    for rank in range(2):
        processes.assert_running(place.pid(rank))
    place.touch("finish")
    place.await_files("done.0", "done.1")
    place.await_end()


@pytest.mark.slow
def test_a_launcher_that_is_a_script(mpir_mpi: MpiBuild, place: Place) -> None:
    program = compile_alone(mpir_mpi, "job_until_told.c")
    script = place.directory / "my run"
    script.write_text(f'#!/bin/sh -e\nexec {mpir_mpi.mpirun} -n 2 "$@"\n')
    script.chmod(0o755)
    launched, table, _ = run(
        place, f'mpi launch "{script}" {program} {place.directory}', "mpi ranks -format json", "mpi detach"
    )
    assert "does not have the MPIR interface" not in launched
    assert [one[3] for one in ranks_of(table)] == ["inferior 2", "inferior 3"]
    place.touch("finish")
    place.await_files("done.0", "done.1")


@pytest.mark.slow
def test_a_script_that_stays_beside_its_launcher(mpir_mpi: MpiBuild, place: Place) -> None:
    program = compile_alone(mpir_mpi, "job_until_told.c")
    script = place.directory / "run.sh"
    script.write_text(f'#!/bin/sh\n{mpir_mpi.mpirun} -n 2 "$@"\necho $? > {place.directory}/status\n')
    script.chmod(0o755)
    launched, table, _ = run(
        place, f"mpi launch {script} {program} {place.directory}", "mpi ranks -format json", "mpi detach"
    )
    assert "run.sh does not have the MPIR interface" in " ".join(launched.split())
    assert [one[3] for one in ranks_of(table)] == ["inferior 2", "inferior 3"]
    place.touch("finish")
    place.await_files("done.0", "done.1", "status")
    place.await_end()
    assert (place.directory / "status").read_text() == "0\n"


@pytest.mark.slow
def test_the_users_settings_hold_for_the_launcher(mpir_mpi: MpiBuild, place: Place) -> None:
    program = compile_alone(mpir_mpi, "job_until_told.c")
    text = run(
        place,
        "set env MPIQ_MINE of the user",
        f"set cwd {place.directory}",
        f"mpi launch {mpir_mpi.mpirun} -n 1 -x MPIQ_MINE {program} $(pwd) > {place.directory}/out",
        "mpi detach",
        "show schedule-multiple",
        "show follow-fork-mode",
        "show confirm",
    )
    assert "is off." in text[4]
    assert '"parent"' in text[5]
    assert "off." in text[6]
    place.await_files("rank.0", "out")
    assert b"MPIQ_MINE=of the user\0" in Path(f"/proc/{place.pid(0)}/environ").read_bytes()
    place.touch("finish")
    place.await_files("done.0")


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("nix -n 2 x", "nix: no such program in PATH\ntype the path of a launcher"),
        ("/nix/mpirun x", "/nix/mpirun: no such program\n"),
        ("'mpirun -n 2", "mpi launch: no closing quotation in: 'mpirun -n 2\n"),
        ("", "mpi launch: which launcher?\ntype: mpi launch mpirun -n 4 ./a.out"),
        ("/bin/false", "false ended with status 1 before it had started any rank to attach to\n"),
    ],
)
def test_what_cannot_be_launched(place: Place, typed: str, message: str) -> None:
    output, listed = run(place, f"mpi launch {typed}", "info inferiors")
    assert message in output
    assert re.fullmatch(r" +Num .*\n\* 1 +<null> *\n", listed)


@pytest.mark.parametrize("command", ["mpi launch false", "mpi attach {pid}"])
def test_non_stop_mode_is_refused(four: Job, command: str) -> None:
    _, output, listed = GDB.run("set non-stop on", command.format(pid=of(four)), "info inferiors")
    assert "gdb is in non-stop mode" in output
    assert "type: set non-stop off" in output
    assert inferiors(listed) == {}
    four.assert_running()


def test_quitting_ends_what_was_launched(starter: Callable[..., Starter]) -> None:
    job = starter("I_AM_STARTER")
    (launched,) = run(job, f"mpi launch {job.command}")
    assert "quit ends what gdb itself has started" in " ".join(launched.split())
    job.await_end()


@pytest.mark.slow
def test_ranks_that_the_job_does_not_have(starter: Callable[..., Starter]) -> None:
    job = starter("I_AM_STARTER")
    output, listed = run(job, f"mpi launch -ranks 5 {job.command}", "info inferiors")
    assert output.startswith("mpi launch: the job has no rank 5; it has 0-1\n")
    assert inferiors(listed) == {}
    job.await_end()


# The variables of MPIR, one by one


def test_a_launcher_is_told_of_the_debugger_and_its_gates_are_opened(starter: Callable[..., Starter]) -> None:
    job = starter("I_AM_STARTER", ranks=3)
    launched, table, _ = run(job, f"mpi launch {job.command}", "mpi ranks -format json", "mpi detach")
    assert job.said("being_debugged") == "1"
    launcher, *pids = job.truth()
    assert [one[2] for one in ranks_of(table)] == pids
    assert f"(pid {launcher}, inferior 1) has started ranks 0-2; here are ranks 0-2." in launched
    job.await_files("released.0", "released.1", "released.2")
    job.touch("finish")
    job.await_files("ended")
    assert job.said("ended") == "0"


@pytest.mark.slow
def test_a_launcher_that_is_itself_rank_0(starter: Callable[..., Starter]) -> None:
    job = starter(ranks=3)
    launched, table, _ = run(job, f"mpi launch {job.command}", "mpi ranks -format json", "mpi detach")
    assert "The launcher does not say MPIR_i_am_starter: it is rank 0 itself.\n" in launched
    launcher, *pids = job.truth()
    assert pids[0] == launcher
    assert [one[2:] for one in ranks_of(table)] == list(zip(pids, ("inferior 1", "inferior 2", "inferior 3")))
    job.touch("finish")
    job.await_files("ended")


@pytest.mark.slow
def test_a_part_of_the_ranks_where_the_launcher_allows_it(starter: Callable[..., Starter]) -> None:
    job = starter("I_AM_STARTER", "PARTIAL_ATTACH_OK", ranks=3, rank_flags=())
    launched, table, _ = run(job, f"mpi launch -ranks 0,2 {job.command}", "mpi ranks -format json", "mpi detach")
    assert "MPIR_partial_attach_ok" not in launched
    assert [one[3] is not None for one in ranks_of(table)] == [True, False, True]
    job.await_files("released.0", "released.1", "released.2")
    job.touch("finish")
    job.await_files("ended")


@pytest.mark.slow
def test_a_part_of_the_ranks_where_each_waits_for_its_gate(starter: Callable[..., Starter]) -> None:
    job = starter("I_AM_STARTER", ranks=3)
    launched, table, _ = run(job, f"mpi launch -ranks 1 {job.command}", "mpi ranks -format json", "mpi detach")
    assert "does not say MPIR_partial_attach_ok: ranks 0 and 2 were attached to as well" in " ".join(launched.split())
    assert "You are in rank 1 " in launched
    assert [one[3] is not None for one in ranks_of(table)] == [False, True, False]
    job.await_files("released.0", "released.1", "released.2")
    job.touch("finish")
    job.await_files("ended")


@pytest.mark.slow
def test_ranks_that_were_held_before_main(starter: Callable[..., Starter]) -> None:
    job = starter("I_AM_STARTER", "ACQUIRED_PRE_MAIN", rank_flags=("-DGATE", "-DPRE_MAIN"))
    launched, reached, _ = run(job, f"mpi launch {job.command}", "continue", "mpi detach")
    assert "The ranks were held before main:\nTemporary breakpoint 1 at " in launched
    assert "(MPIR_acquired_pre_main):\n" in launched
    assert "int main(int argc, char **argv) {\n" in launched
    assert re.search(r"hit Temporary breakpoint 1\S*, main ", reached)
    job.touch("finish")
    job.await_files("ended")


@pytest.mark.slow
def test_a_launcher_that_wants_main_to_be_shown(starter: Callable[..., Starter]) -> None:
    job = starter("I_AM_STARTER", "FORCE_TO_MAIN")
    launched, _ = run(job, f"mpi launch {job.command}", "mpi detach")
    assert "MPIR_force_to_main" in launched
    assert "int main(int argc, char **argv) {\n" in launched
    job.touch("finish")
    job.await_files("ended")


@pytest.mark.parametrize("flag", ["IGNORE_QUEUES", "IGNORE_QUEUE"])
@pytest.mark.slow
def test_a_launcher_that_wants_queues_to_be_left_alone(starter: Callable[..., Starter], flag: str) -> None:
    job = starter("I_AM_STARTER", flag)
    launched, _ = run(job, f"mpi launch {job.command}", "mpi detach")
    assert f"MPIR_{flag.lower()}" in launched


@pytest.mark.slow
def test_ranks_of_another_host_are_listed_and_out_of_reach(starter: Callable[..., Starter]) -> None:
    job = starter("I_AM_STARTER", remote=2)
    launched, table, _ = run(job, f"mpi launch {job.command}", "mpi ranks -format json", "mpi detach")
    assert "rank 2: runs on node7.example as pid 4242: out of reach from here\n" in launched
    assert "rank 3: runs on node7.example as pid 4243: out of reach from here\n" in launched
    _, *pids = job.truth()
    held = ranks_of(table)
    assert [one[2] for one in held] == [*pids, 4242, 4243]
    assert [one[3] for one in held] == ["inferior 2", "inferior 3", None, None]


@pytest.mark.slow
def test_the_abort_of_a_job_is_told(starter: Callable[..., Starter]) -> None:
    job = starter("I_AM_STARTER")
    _, _, aborted, where, _, end = run(
        job,
        f"mpi launch {job.command}",
        f"shell touch {job.directory}/abort",
        "continue",
        "bt 1",
        "mpi detach 0,1",
        "continue",
    )
    assert "The job is being aborted (MPIR_DEBUG_ABORTING): rank 1 called MPI_Abort(3)\n" in aborted
    assert "MPIR_Breakpoint" in where
    assert "exited with code 07" in end


@pytest.mark.slow
def test_what_the_launcher_says_of_itself(starter: Callable[..., Starter]) -> None:
    job = starter("I_AM_STARTER", "SERVER", "ATTACH_FIFO", "PARTIAL_ATTACH_OK")
    _, text, table, _ = run(job, f"mpi launch {job.command}", "mpi ranks -v", "mpi ranks -v -format json", "mpi detach")
    assert "MPIR_executable_path: /opt/tool/server\n" in text
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


@pytest.mark.slow
def test_a_running_launcher_is_told_through_its_fifo(starter: Callable[..., Starter]) -> None:
    job = starter("I_AM_STARTER", "ATTACH_FIFO")
    launcher = subprocess.Popen([job.program, *job.arguments], env={**os.environ, **job.environment})
    try:
        job.await_files("truth")
        assert job.said("being_debugged") == "0"
        attached, stopped, _ = run(job, f"mpi attach {launcher.pid} -launcher", "continue", "mpi detach")
        assert f"The launcher was told of the debugger through {job.directory}/fifo." in attached
        assert "The launcher has started processes (MPIR_DEBUG_SPAWNED)" in stopped
        assert job.said("attached") == "1"
        # Its ranks waited for a debugger.
        job.await_files("released.0", "released.1")
        job.touch("finish")
        assert launcher.wait(60) == 0
    finally:
        launcher.kill()
        launcher.wait()


# Jobs that run


@pytest.mark.usual("wheel-5*")
def test_a_running_job_is_attached_to_and_ends_as_it_would(build: MpiBuild) -> None:
    job = Started(build, ranks=2)
    try:
        attached, table, names, released, listed = run(
            job,
            f"mpi attach {job.launcher.pid}",
            "mpi ranks -format json",
            "mpi queues -all",
            "mpi detach",
            "info inferiors",
        )
        assert f"(pid {job.launcher.pid}): attached to ranks 0 and 1.\n" in attached
        assert ranks_of(table) == [(rank, 0, job.pids[rank], f"inferior {rank + 1}") for rank in range(2)]
        assert names.startswith(f"Rank 0 of 2, pid {job.pids[0]}")
        assert released == "Detached from ranks 0 and 1; the job runs on.\n"
        assert inferiors(listed) == {}
        job.assert_running()
        assert job.finish() == 0
    finally:
        job.end()


@pytest.mark.slow
def test_the_launcher_of_a_running_job_is_not_touched(four: Job) -> None:
    (listed,) = GDB.run(f"mpi attach {of(four)}", "info inferiors")[1:]
    assert list(inferiors(listed).values()) == four.pids
    processes.assert_running(four.launcher_pid)
    four.assert_running()


@pytest.mark.slow
def test_some_ranks(four: Job) -> None:
    attached, listed, again, more = GDB.run(
        f"mpi attach {of(four)} -ranks 1,3", "info inferiors", "mpi attach -ranks 0-1", "info inferiors"
    )
    assert "attached to ranks 1 and 3; 2 more of the job are not asked for" in attached
    assert "You are in rank 1 (inferior 1)" in attached
    assert inferiors(listed) == {1: four.pids[1], 2: four.pids[3]}
    # Those that are there already stay, and so does the user.
    assert "You are in rank 1 (inferior 1)" in again
    assert inferiors(more) == {1: four.pids[1], 2: four.pids[3], 3: four.pids[0]}
    four.assert_running()


@pytest.mark.parametrize(
    ("name", "members"),
    [("odd", [1, 3]), ("even", [0, 2]), ("all but rank 0", [1, 2, 3]), ("reversed", [0, 1, 2, 3])],
)
@pytest.mark.usual("reversed-members3")
def test_the_members_of_a_communicator(four: Job, name: str, members: List[int]) -> None:
    attached, listed = GDB.run(f'mpi attach {of(four)} -comm "{name}"', "info inferiors")
    assert sorted(inferiors(listed).values()) == sorted(four.pids[rank] for rank in members)
    assert f"You are in rank {members[0]} " in attached
    four.assert_running()


@pytest.mark.slow
def test_a_name_that_several_communicators_share(four: Job) -> None:
    attached, listed, chosen, more = GDB.run(
        f'mpi attach {of(four)} -comm "only me"',
        "info inferiors",
        'mpi attach -comm "only me" -ranks 2',
        "info inferiors",
    )
    assert "rank 1 has another communicator named only me, of rank 1" in " ".join(attached.split())
    assert list(inferiors(listed).values()) == [four.pids[0]]
    assert "attached to rank 2" in chosen
    assert set(inferiors(more).values()) == {four.pids[0], four.pids[2]}
    four.assert_running()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-comm nix", "no communicator is named 'nix' in ranks 0-3\n"),
        ("-ranks 7", "mpi attach: the job has no rank 7; it has 0-3\n"),
        ("-ranks x", "mpi attach: 'x' is not a list of ranks\n"),
    ],
)
def test_what_cannot_be_attached_to(four: Job, options: str, message: str) -> None:
    output, listed = GDB.run(f"mpi attach {of(four)} {options}", "info inferiors")
    assert message in output
    assert inferiors(listed) == {}
    four.assert_running()


@pytest.mark.slow
def test_a_rank_that_another_debugger_has_is_a_line(four: Job) -> None:
    other = subprocess.Popen(
        ["gdb", "-nx", "-q", "-iex", "set debuginfod enabled off", "-p", str(four.pids[2])],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        processes.wait_until(lambda: processes.tracer(four.pids[2]) == other.pid, "the other debugger")
        attached, table = GDB.run(f"mpi attach {of(four)}", "mpi ranks -format json")
        assert f"rank 2: pid {four.pids[2]}: already traced by pid {other.pid}" in attached
        assert "attached to ranks 0, 1 and 3; 1 more of the job is" in attached
        assert [one[3] for one in ranks_of(table)] == ["inferior 1", "inferior 2", None, "inferior 3"]
    finally:
        other.communicate(b"detach\nquit\n", timeout=60)
    four.assert_running()


@pytest.mark.slow
def test_a_rank_that_is_killed_while_it_runs(debian_mpi: MpiBuild, start_job: Callable[..., Job]) -> None:
    job = start_job(debian_mpi, "truth_comms", ranks=3)
    # The launcher would end the others.
    os.kill(job.launcher_pid, signal.SIGSTOP)
    _, _, ended, table, said, released = GDB.run(
        f"mpi attach {of(job)}",
        f"shell ({until(job.pids[1], 'S')}; kill -KILL {job.pids[1]}) &",
        "continue",
        "mpi ranks -format json",
        "mpi foreach all output truth_rank",
        "mpi detach",
    )
    assert "terminated with signal SIGKILL" in ended
    assert [one[3] is not None for one in ranks_of(table)] == [True, False, True]
    assert said == "rank 0:\n  0\nrank 2:\n  2\nLeft out, because not attached to: rank 1\n"
    assert released == "Detached from ranks 0 and 2; the job runs on.\n"
    for rank in (0, 2):
        processes.assert_running(job.pids[rank])
    os.kill(job.launcher_pid, signal.SIGCONT)


def test_a_rank_that_is_killed_while_it_is_stopped(debian_mpi: MpiBuild, start_job: Callable[..., Job]) -> None:
    job = start_job(debian_mpi, "truth_comms", ranks=3)
    os.kill(job.launcher_pid, signal.SIGSTOP)
    _, _, said, one, table, released = GDB.run(
        f"mpi attach {of(job)}",
        f"shell kill -KILL {job.pids[1]}; {until(job.pids[1], 'Z')}",
        "mpi foreach 1 output truth_rank",
        "mpi detach 1",
        "mpi ranks -format json",
        "mpi detach",
    )
    assert said == "rank 1:\n  error: the process has ended\n  to remove it, type: mpi detach RANK\n"
    assert one == "Detached from rank 1; the job runs on.\n"
    assert [held[3] is not None for held in ranks_of(table)] == [True, False, True]
    assert released == "Detached from ranks 0 and 2; the job runs on.\n"
    for rank in (0, 2):
        processes.assert_running(job.pids[rank])
    os.kill(job.launcher_pid, signal.SIGCONT)


# Commands on ranks


def test_equal_output_is_told_once(four: Job) -> None:
    _, same, split, some, failed, where = GDB.run(
        f"mpi attach {of(four)}",
        "mpi foreach all output 6 * 7",
        "mpi foreach all output truth_rank % 2",
        "mpi foreach 0,2-3 echo here\\n",
        "mpi foreach all output no_such_variable",
        "output $_inferior",
    )
    assert same == "ranks 0-3:\n  42\n"
    assert split == "ranks 0 and 2:\n  0\nranks 1 and 3:\n  1\n"
    assert some == "ranks 0, 2 and 3:\n  here\n"
    assert failed == 'ranks 0-3:\n  error: No symbol "no_such_variable" in current context.\n'
    assert where == "1"
    four.assert_running()


def test_queues_of_some_ranks(four: Job) -> None:
    _, some, comms, handles, none, abbreviated = GDB.run(
        f"mpi attach {of(four)} -ranks 0-2",
        "mpi queues -ranks 1-2 -format json",
        "mpi comms -ranks 0,2 -format json",
        "mpi handles comm -ranks 2 -format json",
        "mpi queues -ranks 3",
        "mpi comms -ran 1 -format json",
    )
    for text, ranks in ((some, [1, 2]), (comms, [0, 2]), (handles, [2]), (abbreviated, [1])):
        assert [one["pid"] for one in json.loads(text)["processes"]] == [four.pids[rank] for rank in ranks]
    assert none == "not attached to any of: rank 3\ntype: mpi ranks\n"
    four.assert_running()


def test_labels_have_the_names_of_ranks(four: Job) -> None:
    _, info = GDB.run(f"mpi attach {of(four)} -ranks 2", "mpi info")
    assert info.startswith(f"inferior 1 (rank 2, pid {four.pids[2]})")


def test_ranks_that_want_queues_to_be_left_alone(debian_mpi: MpiBuild) -> None:
    job = Started(debian_mpi, ranks=1, flags=["-DIGNORE_QUEUES"])
    try:
        _, queues, comms = run(job, f"mpi attach {job.launcher.pid}", "mpi queues", "mpi comms")
        assert "rank 0 asks debuggers to leave message queues alone (MPIR_Ignore_queues)" in queues
        assert "MPIR_Ignore_queues" not in comms
        assert job.finish() == 0
    finally:
        job.end()


def test_resuming_all_ranks_is_one_command(four: Job) -> None:
    _, said, states = GDB.run(f"mpi attach {of(four)}", "mpi foreach all continue", "mpi ranks -format json")
    assert said.startswith("ranks 0-3:\n  error: continue: gdb resumes all processes together\n")
    assert {one["state"] for one in json.loads(states)["processes"]} == {"stopped"}
    four.assert_running()


def test_letting_go_of_some(four: Job) -> None:
    _, released, listed, rest, none, nothing = GDB.run(
        f"mpi attach {of(four)}", "mpi detach 0,2", "info inferiors", "mpi detach", "info inferiors", "mpi detach"
    )
    assert released == "Detached from ranks 0 and 2; the job runs on.\n"
    assert list(inferiors(listed).values()) == [four.pids[1], four.pids[3]]
    assert rest == "Detached from ranks 1 and 3; the job runs on.\n"
    assert inferiors(none) == {}
    assert "mpi detach: mpi attach and mpi launch have attached to no rank\n" in nothing
    four.assert_running()


def test_ranks_of_processes_that_were_attached_to_by_hand(four: Job) -> None:
    table, foreach = GDB.run(*GDB.attach(four.pids[3]), "mpi ranks -format json", "mpi foreach all output truth_rank")[
        1:
    ]
    assert [one[3] for one in ranks_of(table)] == [None, None, None, "inferior 1"]
    assert foreach == "rank 3:\n  3\nLeft out, because not attached to: ranks 0-2\n"
    four.assert_running()


@pytest.mark.parametrize("command", ["mpi ranks", "mpi foreach all bt", "mpi detach 0"])
def test_without_a_job(command: str, preflight: None) -> None:
    (output,) = GDB.run(command)
    assert output.strip() == (
        "no job: nothing is being debugged here\n"
        "type: mpi launch mpirun -n 4 ./a.out, or for a job that runs: mpi attach"
    )


def test_a_debugger_that_is_ended_leaves_the_job_running(four: Job) -> None:
    with Terminal() as gdb:
        gdb.run(f"source {GDB_LOADER}")
        assert "You are in rank 0 (inferior 1)" in gdb.run(f"mpi attach {of(four)}")
        assert all(processes.tracer(pid) == gdb.pid for pid in four.pids)
    four.assert_running()


def test_who_is_in_a_rank_that_ends_is_taken_to_another(
    starter: Callable[..., Starter], monkeypatch: pytest.MonkeyPatch
) -> None:
    job = starter("I_AM_STARTER", "PARTIAL_ATTACH_OK", rank_flags=())
    for name, value in job.environment.items():
        monkeypatch.setenv(name, value)
    with Terminal() as gdb:
        for setting in (f"source {GDB_LOADER}", "set confirm off", f"mpi launch {job.command}"):
            gdb.run(setting)
        job.touch("finish")
        seen = gdb.run("continue") + gdb.read_quiet()
        # The other rank may have ended, too, though gdb has not told of it.
        assert re.search(
            r"rank (0|1) has ended; you are in (rank (?!\1)\d|launcher mpir_starter) \(inferior \d\)\.", seen
        )


def test_ctrl_c_leaves_nothing_half_attached(debian_mpi: MpiBuild, start_job: Callable[..., Job]) -> None:
    job = start_job(debian_mpi, "truth_comms", ranks=12)
    with Terminal() as gdb:
        gdb.run(f"source {GDB_LOADER}")
        gdb.run("set confirm off")
        # In the middle of gdb's `attach`, between two of them, and about when the last has been attached to.
        for rank, seconds in ((0, 0.0), (3, 0.05), (8, 0.09), (9, 0.0), (11, 0.02)):
            gdb.send(f"mpi attach {of(job)}\n")
            processes.wait_until(lambda rank=rank: processes.tracer(job.pids[rank]) == gdb.pid, "the debugger")
            time.sleep(seconds)
            gdb.send("\x03")
            seen = gdb.read_until(PROMPT) + gdb.read_quiet()
            held = list(inferiors(gdb.run("info inferiors")).values())
            # It came too late, or everything has been let go.
            assert held == (job.pids if "You are in rank 0" in seen else []), seen
            assert "Traceback" not in seen
            if held:
                gdb.run("mpi detach")
            job.assert_running()


def test_ctrl_c_while_a_launcher_starts(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in place.environment.items():
        monkeypatch.setenv(name, value)
    with Terminal() as gdb:
        gdb.run(f"source {GDB_LOADER}")
        gdb.send("mpi launch sleep 1000\n")
        processes.wait_until(lambda: any(is_asleep(pid) for pid in processes.children(gdb.pid)), "the launcher")
        gdb.send("\x03")
        seen = gdb.read_until(PROMPT)
        assert "interrupted: sleep was told to end" in seen
        assert inferiors(gdb.run("info inferiors")) == {}
        processes.wait_until(lambda: not any(is_asleep(pid) for pid in processes.children(gdb.pid)), "its end")
        # The next one starts as if nothing had been.
        assert "false ended with status 1" in gdb.run("mpi launch false")


def is_asleep(pid: int) -> bool:
    """Whether a process is the one that sleeps, in its sleep."""
    name = Path(f"/proc/{pid}/comm")
    return name.exists() and name.read_text() == "sleep\n" and processes.state(pid) == "S"


def test_completion(four: Job) -> None:
    # What gdb's own `complete` lists is what the Tab key offers.
    launchers, _, options, ranks, command, expression, lists, files = GDB.run(
        f"complete mpi attach {of(four)[:-1]}",
        f"mpi attach {of(four)}",
        "complete mpi attach -l",
        "complete mpi foreach ",
        "complete mpi foreach all backtr",
        "complete mpi foreach all print truth_ran",
        "complete mpi queues -ranks ",
        "complete mpi launch /dev/nul",
    )
    assert f"mpi attach {of(four)}" in launchers.splitlines()
    assert options == "mpi attach -launcher\n"
    assert ranks.splitlines() == [f"mpi foreach {one}" for one in ("0", "1", "2", "3", "all")]
    assert command == "mpi foreach all backtrace\n"
    assert expression == "mpi foreach all print truth_rank\n"
    assert lists.splitlines() == [f"mpi queues -ranks {one}" for one in ("0", "1", "2", "3", "all")]
    assert files == "mpi launch /dev/null\n"
    four.assert_running()
