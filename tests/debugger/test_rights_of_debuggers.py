"""Whose rights a debugger has that reads for the command line, and what of others passes for a part of a job.

As root, jobs run as users that nobody has; as anybody else all is one user's, and the same must hold.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List

import mpi_queues as package
import pytest
from debuggers import Gdb, Lldb
from support import cores, processes
from support.builds import MpiBuild
from support.cli import Result, mpi_queues
from support.compare import assert_equal
from support.jobs import Job
from support.users import AM_ROOT, GROUPS, OTHER, THIRD, NotingDebugger, Process, UsersJob, identities, may_read

DEBUGGERS = ("gdb", "lldb")
SECRET = "what-only-root-may-know"
#: In an installation that only root can read, no debugger of a user's can load the package.
READABLE = may_read(OTHER, Path(package.__file__))


@pytest.fixture(scope="module")
def users_job(debian_mpi: MpiBuild) -> Iterator[UsersJob]:
    job = UsersJob(debian_mpi, "truth_probe")
    yield job
    job.end()


@pytest.fixture(params=DEBUGGERS)
def debugger(request: pytest.FixtureRequest) -> Iterator[NotingDebugger]:
    noting = NotingDebugger(request.param)
    yield noting
    noting.end()


def run(debugger: NotingDebugger, *words: str) -> Result:
    environment = {**debugger.environment, "MPIQ_SECRET": SECRET}
    return mpi_queues(*words, "--via", debugger.name, environment=environment)


def assert_had_rights(noted: List[str], user: int) -> None:
    """Every debugger that was started had this user's, and nobody else's."""
    assert noted
    for text in noted:
        had = identities(text)
        assert had["Uid"] == [user] * 4, had
        if AM_ROOT and user:
            assert had["Gid"] == [user] * 4
            assert sorted(had["Groups"]) in (sorted(GROUPS), sorted([*GROUPS, user]))
            assert re.search(r"^CapEff:\t0+$", text, re.M)
            # Nothing of root's goes with it: the user can read the environment of what has the user's rights.
            assert SECRET not in text
            assert not re.search(r"^HOME=/root", text, re.M)


def notes(result: Result) -> List[str]:
    found: Dict[str, Any] = json.loads(result.out)
    return [note for note in found.get("notes", []) if "rights" in note]


@pytest.mark.usual("gdb")
def test_ranks_are_read_with_the_rights_of_their_user(users_job: UsersJob, debugger: NotingDebugger) -> None:
    shown = run(debugger, "show", "--job", str(users_job.pid), "--format", "json")
    assert (shown.status, shown.err) == (0, ""), str(shown)
    found = json.loads(shown.out)["processes"]
    assert [process["pid"] for process in found] == users_job.pids
    for rank, process in enumerate(found):
        assert_equal(users_job.truth[rank], process)
    noted = debugger.noted()
    assert len(noted) == 1
    assert_had_rights(noted, OTHER if READABLE else os.getuid())
    assert bool(notes(shown)) == (not READABLE)
    for pid in users_job.pids:
        processes.assert_running(pid)


@pytest.mark.slow
def test_one_process_a_diagnosis_and_a_recording_too(
    users_job: UsersJob, debugger: NotingDebugger, tmp_path: Path
) -> None:
    file = tmp_path / "one.mpirec"
    for words in (
        ["show", "--pid", str(users_job.pids[1])],
        ["diagnose", "--once", "--job", str(users_job.pid)],
        ["record", "--job", str(users_job.pid), "-o", str(file)],
    ):
        said = run(debugger, *words)
        assert (said.status, said.err) == (0, "") or not READABLE, str(said)
        assert_had_rights(debugger.noted(), OTHER if READABLE else os.getuid())
    # The file is of whoever has recorded.
    assert file.stat().st_uid == os.getuid()
    shown = mpi_queues("show", "--recording", str(file), "--format", "json")
    assert [process["pid"] for process in json.loads(shown.out)["processes"]] == users_job.pids


@pytest.mark.slow
def test_jobs_of_two_users_are_read_with_the_rights_of_each(
    users_job: UsersJob, debian_mpich: MpiBuild, debugger: NotingDebugger
) -> None:
    other = UsersJob(debian_mpich, "truth_probe", user=THIRD)
    try:
        shown = run(debugger, "show", "--job", str(users_job.pid), "--job", str(other.pid), "--format", "json")
        assert [process["pid"] for process in json.loads(shown.out)["processes"]] == [*users_job.pids, *other.pids]
        had = sorted({tuple(identities(text)["Uid"]) for text in debugger.noted()})
        assert had == (sorted({(OTHER,) * 4, (THIRD,) * 4}) if READABLE else [(0,) * 4])
    finally:
        other.end()


def test_where_its_users_rights_do_not_suffice_root_reads_and_says_so(users_job: UsersJob) -> None:
    # A debugger that is only for whoever runs the tests.
    debugger = NotingDebugger("gdb", mode=0o700)
    try:
        shown = run(debugger, "show", "--job", str(users_job.pid), "--format", "json")
        assert (shown.status, shown.err) == (0, ""), str(shown)
        for rank, process in enumerate(json.loads(shown.out)["processes"]):
            assert_equal(users_job.truth[rank], process)
        assert_had_rights(debugger.noted(), os.getuid())
        if AM_ROOT:
            (note,) = notes(shown)
            assert note.startswith("read with the rights of root, because those of uid 61234 do not suffice: ")
            assert f"gdb may not be run: rank 0 (pid {users_job.pids[0]}), rank 1 (pid" in note
        else:
            assert not notes(shown)
    finally:
        debugger.end()


@pytest.mark.slow
def test_a_core_file_is_read_with_the_rights_of_its_owner(users_job: UsersJob, debugger: NotingDebugger) -> None:
    core = cores.gcore(users_job.pids[0], users_job.directory / f"core-{debugger.name}")
    core.chmod(0o600)
    ours = run(debugger, "show", "--core", str(core), "--exe", str(users_job.program), "--format", "json")
    assert_had_rights(debugger.noted(), os.getuid())
    os.chown(core, OTHER, OTHER if AM_ROOT else os.getgid())
    shown = run(debugger, "show", "--core", str(core), "--exe", str(users_job.program), "--format", "json")
    assert (shown.status, shown.err) == (0, ""), str(shown)
    noted = debugger.noted()
    assert [identities(text)["Uid"] for text in noted] == [[OTHER if READABLE else os.getuid()] * 4]
    one, two = (json.loads(result.out)["processes"] for result in (ours, shown))
    assert one == two
    assert_equal(users_job.truth[0], two[0])


@pytest.fixture
def false_rank(debian_mpich: MpiBuild, start_job: Callable[..., Job]) -> Iterator[List[Any]]:
    """A job of ours, and what says to be its proxy: the port of a job stands in ``ps``."""
    job = start_job(debian_mpich, "truth_probe", ranks=2)
    commands = [
        Path(f"/proc/{one.pid}/cmdline").read_bytes().split(b"\0") for one in processes.descendants(job.launcher_pid)
    ]
    port = next(words[words.index(b"--control-port") + 1] for words in commands if b"--control-port" in words)
    command = ["hydra_x", "--control-port", port.decode()]
    process = Process(command, {"PMI_RANK": "2", "PMI_SIZE": "3", "PMI_FD": "99"}, user=OTHER)
    processes.wait_until(lambda: processes.state(process.child) == "S", "the false rank")
    yield [job, process]
    process.end()


def test_the_false_rank_of_another_user_is_not_read_and_named(false_rank: List[Any], tmp_path: Path) -> None:
    job, process = false_rank
    told = rf"pid {process.child} \(sleep\) of uid {OTHER} is left out: the job is root \(uid 0\)'s"
    listed = mpi_queues("ranks", str(job.launcher_pid), "--format", "json")
    pids = [one["pid"] for one in json.loads(listed.out)["processes"]]
    if not AM_ROOT:
        # Of the same user it is taken, as a rank of a world of three: nothing but the user tells it from one.
        assert pids == [*job.pids, None, None, process.child]
        return
    assert pids == job.pids
    assert any(re.search(told, problem) for problem in json.loads(listed.out)["problems"]), str(listed)
    file = tmp_path / "job.mpirec"
    for words in (
        ["ranks", str(job.launcher_pid)],
        ["show", "--job", str(job.launcher_pid), "--format", "json"],
        ["diagnose", "--job", str(job.launcher_pid)],
        ["record", "--job", str(job.launcher_pid), "-o", str(file)],
    ):
        said = mpi_queues(*words)
        assert said.status == 1, str(said)
        assert re.search(told, re.sub(r"\s+", " ", said.err)), str(said)
        if "json" in words:
            assert [one["pid"] for one in json.loads(said.out)["processes"]] == job.pids
    shown = mpi_queues("show", "--recording", str(file), "--format", "json")
    assert [one["pid"] for one in json.loads(shown.out)["processes"]] == job.pids
    # It belongs to no job.
    assert "no MPI launcher" in mpi_queues("ranks", str(process.child)).err
    processes.assert_running(process.child)


@pytest.mark.parametrize("inside", [Gdb(), Lldb()], ids=DEBUGGERS)
@pytest.mark.slow
def test_a_debugger_does_not_attach_to_the_false_rank(false_rank: List[Any], inside: Gdb) -> None:
    job, process = false_rank
    said = " ".join(inside.run(f"mpi attach {job.launcher_pid}", "mpi detach"))
    said = re.sub(r"\s+", " ", said)
    if AM_ROOT:
        assert f"pid {process.child} (sleep) of uid {OTHER} is left out: the job is root (uid 0)'s" in said
        assert "attached to ranks 0-1." in said, said
    else:
        assert "attached to ranks 0-2." in said, said
    processes.assert_running(process.child)


def test_anothers_mpirun_costs_its_own_line(false_rank: List[Any]) -> None:
    job, _ = false_rank
    pretender = Process(["mpirun", "-n", "2"], {}, user=OTHER)
    try:
        said = mpi_queues("ranks")
        assert f"pid {pretender.pid}: mpirun -c" in said.err, str(said)
        assert f"pid {job.launcher_pid}: " in said.err
        if AM_ROOT:
            lines = said.err.splitlines()
            (at,) = [number for number, line in enumerate(lines) if f"pid {pretender.pid}: " in line]
            (mine,) = [number for number, line in enumerate(lines) if f"pid {job.launcher_pid}: " in line]
            assert mine < at
            assert lines[at].endswith(f"(uid {OTHER})")
    finally:
        pretender.end()
