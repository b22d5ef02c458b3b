"""Whose the processes of a job are: whatever makes another user's process look like a rank, it is not taken, and named.

The processes are made up, so that this means the same whoever runs it.
"""

from __future__ import annotations

import pathlib
from typing import Callable, Dict, List, Optional, Tuple

import pytest
from mpi_queues.errors import UserError
from mpi_queues.launchers import finding, owners
from mpi_queues.launchers.appearing import _ranks_below
from mpi_queues.launchers.job import job_of
from mpi_queues.launchers.model import Job, RankEntry, World
from mpi_queues.launchers.tables import Row, Table
from mpi_queues.launchers.tree import ProcessTree
from mpi_queues.system import processes
from mpi_queues.targets.jobs import of_job
from mpi_queues.targets.lost import LeftOutTarget, LostTarget
from mpi_queues.targets.process import PidTarget
from support.made_up_proc import MadeUpProc

MPI = ["/usr/lib/libmpi.so.40.30.4"]
NAMESPACE = "prterun-here-10@1"
PROXY = ["hydra_pmi_proxy", "--control-port", "here:4711", "--pgid", "0"]
#: The one that is never to be read.
FALSE = 66
#: The user of the job, and the users of the false rank: real, effective, saved.
WHOSE = [
    pytest.param(1000, (2000, 2000, 2000), id="of another user"),
    pytest.param(1000, (0, 0, 0), id="of root"),
    pytest.param(0, (2000, 2000, 2000), id="in a job of root"),
    pytest.param(1000, (1000, 0, 0), id="set-user-id"),
    pytest.param(1000, (1000, 1000, 0), id="set-user-id that may return"),
    pytest.param(1000, (2000, 1000, 1000), id="of another who has the rights"),
]

Users = Tuple[int, int, int]
Build = Callable[[MadeUpProc, int, Users], Optional[Table]]


@pytest.fixture
def proc(tmp_path: pathlib.Path) -> MadeUpProc:
    return MadeUpProc(tmp_path)


def ompi(rank: int, size: int = 2, world: str = NAMESPACE, **more: str) -> Dict[str, str]:
    return {
        "OMPI_COMM_WORLD_RANK": str(rank),
        "OMPI_COMM_WORLD_SIZE": str(size),
        "OMPI_COMM_WORLD_LOCAL_SIZE": str(size),
        "PMIX_NAMESPACE": world,
        **more,
    }


def pmi(rank: int, size: int = 2) -> Dict[str, str]:
    return {"PMI_RANK": str(rank), "PMI_SIZE": str(size)}


def below_the_launcher(proc: MadeUpProc, user: int, users: Users) -> None:
    proc.add(10, 1, ["prterun"], users=[user] * 3)
    proc.add(11, 10, ["a"], ompi(0), maps=MPI, users=[user] * 3)
    proc.add(FALSE, 10, ["x"], ompi(1), maps=MPI, users=users)


def below_a_rank(proc: MadeUpProc, user: int, users: Users) -> None:
    below_the_launcher(proc, user, (user, user, user))
    (proc.root / str(FALSE) / "stat").unlink()
    proc.add(12, 10, ["a"], ompi(1), maps=MPI, users=[user] * 3)
    proc.add(67, 12, ["x"], ompi(0, 7), maps=MPI, users=users)


def in_place_of_one_that_has_ended(proc: MadeUpProc, user: int, users: Users) -> None:
    proc.add(10, 1, ["prterun"], users=[user] * 3)
    proc.add(11, 10, ["a"], ompi(0), maps=MPI, users=[user] * 3)
    proc.add(FALSE, 1, ["x"], ompi(1), maps=MPI, users=users)


def tied_by_its_options(proc: MadeUpProc, user: int, users: Users) -> None:
    proc.add(10, 1, ["mpiexec"], users=[user] * 3)
    proc.add(20, 10, PROXY, users=[user] * 3)
    proc.add(11, 20, ["a"], pmi(0), maps=MPI, users=[user] * 3)
    proc.add(60, 1, ["hydra_x", "--control-port", "here:4711"], users=users)
    proc.add(FALSE, 60, ["x"], pmi(1), maps=MPI, users=users)


def below_a_tied_daemon_of_the_users(proc: MadeUpProc, user: int, users: Users) -> None:
    proc.add(10, 1, ["mpiexec"], users=[user] * 3)
    proc.add(20, 10, ["ssh", "here", " ".join(PROXY)], users=[user] * 3)
    proc.add(30, 1, ["sshd"], users=[0] * 3)
    proc.add(31, 30, PROXY, users=[user] * 3)
    proc.add(11, 31, ["a"], pmi(0), maps=MPI, users=[user] * 3)
    proc.add(FALSE, 31, ["x"], pmi(1), maps=MPI, users=users)


def by_the_name_of_its_world(proc: MadeUpProc, user: int, users: Users) -> None:
    proc.add(10, 1, ["mpirun"], users=[user] * 3)
    proc.add(11, 10, ["a"], ompi(0, world="65537"), maps=MPI, users=[user] * 3)
    proc.add(FALSE, 1, ["x"], ompi(1, world="65537"), maps=MPI, users=users)


def as_a_spawned_world(proc: MadeUpProc, user: int, users: Users) -> None:
    proc.add(10, 1, ["prterun"], users=[user] * 3)
    proc.add(11, 10, ["a"], ompi(0), maps=MPI, users=[user] * 3)
    proc.add(FALSE, 1, ["x"], ompi(0, 1, "prterun-here-10@2", OMPI_PARENT_PORT="1.0:1"), maps=MPI, users=users)


def by_the_launchers_table(proc: MadeUpProc, user: int, users: Users) -> Table:
    proc.add(10, 1, ["mpirun"], users=[user] * 3)
    proc.add(11, 10, ["a"], ompi(0), maps=MPI, users=[user] * 3)
    proc.add(FALSE, 1, ["x"], ompi(1, world="another"), maps=MPI, users=users)
    return Table("MPIR_proctable of mpirun (pid 10)", {0: Row("localhost", "a", 11), 1: Row("localhost", "x", FALSE)})


def by_a_table_that_names_an_older_process(proc: MadeUpProc, user: int, users: Users) -> Table:
    proc.add(FALSE, 1, ["x"], ompi(1, world="another"), maps=MPI, users=users)
    proc.add(10, 1, ["mpirun"], users=[user] * 3)
    proc.add(11, 10, ["a"], ompi(0), maps=MPI, users=[user] * 3)
    return Table("MPIR_proctable of mpirun (pid 10)", {0: Row("localhost", "a", 11), 1: Row("localhost", "x", FALSE)})


WAYS: List[Build] = [
    below_the_launcher,
    in_place_of_one_that_has_ended,
    tied_by_its_options,
    below_a_tied_daemon_of_the_users,
    by_the_name_of_its_world,
    as_a_spawned_world,
    by_the_launchers_table,
    by_a_table_that_names_an_older_process,
]


def found_by(proc: MadeUpProc, table: Optional[Table]) -> Job:
    tree = ProcessTree(proc.root)
    return owners.of_one_user(tree, job_of(tree, finding.of(tree, 10), lambda *_: table))


@pytest.mark.parametrize(("user", "users"), WHOSE)
@pytest.mark.parametrize("way", WAYS)
def test_a_process_of_another_user_is_no_rank(proc: MadeUpProc, way: Build, user: int, users: Users) -> None:
    job = found_by(proc, way(proc, user, users))
    assert (0, 0, 11) in [(entry.world, entry.rank, entry.pid) for entry in job.ranks]
    assert FALSE not in [entry.pid for entry in job.ranks]
    assert [target.pid for target in of_job(job) if isinstance(target, PidTarget)] == [11]
    said = [*job.problems, *(entry.problem or "" for entry in job.ranks)]
    (named, *more) = [text for text in said if f"pid {FALSE} " in text]
    assert not more
    if way is not by_a_table_that_names_an_older_process:
        other = next(one for one in users if one != user)
        assert processes.user_name(other) in named
        assert f"the job is {processes.user_name(user)}'s" in named
    # What is read tells it, too.
    reasons = [str(target.reason) for target in of_job(job) if isinstance(target, (LostTarget, LeftOutTarget))]
    assert any(f"pid {FALSE} " in reason for reason in reasons)


@pytest.mark.parametrize("way", [way for way in WAYS if way is not by_a_table_that_names_an_older_process])
def test_the_same_process_of_the_users_own_is_a_rank(proc: MadeUpProc, way: Build) -> None:
    job = found_by(proc, way(proc, 1000, (1000, 1000, 1000)))
    assert sorted(entry.pid or 0 for entry in job.ranks if entry.pid) == [11, FALSE]
    assert not job.left_out


def test_a_rank_whose_process_is_left_out_is_not_said_to_have_ended(proc: MadeUpProc) -> None:
    below_the_launcher(proc, 1000, (2000, 2000, 2000))
    entry = found_by(proc, None).ranks[1]
    assert (entry.rank, entry.pid, entry.state) == (1, None, "unknown")
    (lost,) = [target for target in of_job(found_by(proc, None)) if isinstance(target, LostTarget)]
    assert lost.reason.kind == "other_user"


def test_a_false_rank_changes_nothing_of_the_others(proc: MadeUpProc) -> None:
    # As one more process of a rank, and with a size of its own.
    below_a_rank(proc, 1000, (2000, 2000, 2000))
    job = found_by(proc, None)
    assert [(entry.rank, entry.pid, entry.problem) for entry in job.ranks] == [(0, 11, None), (1, 12, None)]
    assert [world.size for world in job.worlds] == [2]
    assert any(f"pid 67 (x) of {processes.user_name(2000)}" in text for text in job.left_out)


def test_what_a_rank_starts_with_other_rights_is_none_of_the_jobs(proc: MadeUpProc) -> None:
    proc.add(10, 1, ["mpirun"], users=[1000] * 3)
    proc.add(11, 10, ["a"], ompi(0, 1), maps=MPI, users=[1000] * 3)
    # sudo gives its command another environment.
    proc.add(12, 11, ["tcpdump"], {}, users=[0] * 3)
    assert (found_by(proc, None).problems, found_by(proc, None).left_out) == ([], [])


def test_daemons_of_root_may_stand_on_the_way(proc: MadeUpProc) -> None:
    proc.add(10, 1, ["srun"], users=[1000] * 3)
    proc.add(20, 10, ["slurmstepd"], users=[0] * 3)
    proc.add(11, 20, ["a"], pmi(0, 1), maps=MPI, users=[1000] * 3)
    job = found_by(proc, None)
    assert ([entry.pid for entry in job.ranks], job.problems) == ([11], [])


def test_a_launcher_that_is_a_set_user_id_program_is_its_callers(proc: MadeUpProc) -> None:
    proc.add(10, 1, ["mpiexec"], users=[1000, 0, 0])
    proc.add(11, 10, ["a"], pmi(0, 1), maps=MPI, users=[1000] * 3)
    proc.add(FALSE, 10, ["x"], pmi(0, 1), maps=MPI, users=[0] * 3)
    job = found_by(proc, None)
    assert [entry.pid for entry in job.ranks] == [11]
    assert any("pid 66 (x) of root (uid 0)" in text for text in job.problems)


def test_a_job_of_nothing_but_strangers_has_no_ranks_and_says_why(proc: MadeUpProc) -> None:
    proc.add(10, 1, ["mpirun"], users=[0] * 3)
    proc.add(FALSE, 10, ["x"], ompi(0, 1), maps=MPI, users=[2000] * 3)
    with pytest.raises(UserError, match=r"pid 66 \(x\) of .*2000\)? is left out: the job is root \(uid 0\)'s"):
        found_by(proc, None)


def test_many_false_ranks_are_told_in_few_sentences(proc: MadeUpProc) -> None:
    tied_by_its_options(proc, 1000, (2000, 2000, 2000))
    for pid in range(100, 400):
        proc.add(pid, 60, ["x"], pmi(1), maps=MPI, users=[2000] * 3)
    job = found_by(proc, None)
    assert len(job.left_out) == 21
    assert job.left_out[-1] == "282 more processes of other users than the job's are left out"


def test_a_false_rank_leads_to_no_job(proc: MadeUpProc) -> None:
    tied_by_its_options(proc, 1000, (2000, 2000, 2000))
    for pid in (60, FALSE):
        with pytest.raises(UserError, match="not an MPI launcher"):
            finding.of(ProcessTree(proc.root), pid)


def test_what_of_roots_started_a_rank_is_no_launcher(proc: MadeUpProc) -> None:
    # cron starts commands of all users, and anybody can give a command a rank.
    proc.add(10, 1, ["cron"], users=[0] * 3)
    proc.add(11, 10, ["a"], pmi(0, 1), maps=MPI, users=[1000] * 3)
    proc.add(12, 10, ["x"], pmi(0, 1), maps=MPI, users=[2000] * 3)
    proc.add(20, 10, ["runner"], users=[1000] * 3)
    proc.add(21, 20, ["b"], pmi(0, 1), maps=MPI, users=[1000] * 3)
    assert finding.launchers(ProcessTree(proc.root)) == [20]


def test_anothers_launcher_costs_its_own_line(proc: MadeUpProc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    for pid in range(100, 150):
        proc.add(pid, 1, ["mpirun"], users=[2000] * 3)
    proc.add(10, 1, ["mpirun", "-n", "1"], users=[0] * 3)
    proc.add(11, 10, ["a"], ompi(0, 1), maps=MPI, users=[0] * 3)
    tree = ProcessTree(proc.root)
    with pytest.raises(UserError) as caught:
        finding.find(tree, None)
    # Mine stands first, however many others have been started before.
    lines = str(caught.value).splitlines()
    assert lines[:3] == [
        "51 launchers are running:",
        "  pid 10: mpirun -n 1 (root (uid 0))",
        f"  pid 100: mpirun ({processes.user_name(2000)})",
    ]
    assert lines[-1] == "name one by its pid, such as: 10"
    assert [entry.pid for entry in found_by(proc, None).ranks] == [11]


def test_a_chain_of_processes_without_end_is_not_followed_to_it(proc: MadeUpProc) -> None:
    for pid in range(1000, 1300):
        proc.add(pid, pid - 1 if pid > 1000 else 1, ["mpirun"], users=[2000] * 3)
    assert ProcessTree(proc.root).ancestors(1299) == list(range(1298, 1298 - 256, -1))


def test_launchers_in_one_another_are_not_all_looked_into(proc: MadeUpProc, monkeypatch: pytest.MonkeyPatch) -> None:
    for pid in range(1000, 1300):
        proc.add(pid, pid - 1 if pid > 1000 else 1, ["mpirun"], ompi(0, 1), users=[2000] * 3)
    looks: List[int] = []
    real = finding.identity

    def counted(tree: ProcessTree, pid: int, launcher: Optional[int] = None) -> object:
        looks.append(pid)
        return real(tree, pid, launcher)

    monkeypatch.setattr(finding, "identity", counted)
    finding.launchers(ProcessTree(proc.root))
    # So many for each process, whatever their number; each pair of them would be 90,000 at least.
    assert len(looks) < 300 * 150


def test_the_gate_lets_nobody_through_whatever_named_them(proc: MadeUpProc) -> None:
    # As from MPI2DD tables, which are any process's memory.
    proc.add(10, 1, ["starter"], users=[1000] * 3)
    proc.add(11, 1, ["a"], users=[1000] * 3)
    proc.add(FALSE, 1, ["x"], users=[2000] * 3)
    ranks = [RankEntry(rank, 0, pid, "here", "a", "sleeping", True, "told") for rank, pid in enumerate((11, FALSE, 77))]
    ranks.append(RankEntry(3, 0, FALSE, "faraway", "a", "unknown", False, "told"))
    job = Job(10, "starter", "here", [World(0, None, 4, 0)], ranks)
    passed = owners.of_one_user(ProcessTree(proc.root), job)
    assert [(entry.pid, entry.state) for entry in passed.ranks] == [
        (11, "sleeping"),
        (None, "unknown"),
        (77, "ended"),
        # A process of another machine, which only has the same number.
        (FALSE, "unknown"),
    ]
    assert f"pid 66 (x) of {processes.user_name(2000)} is left out" in (passed.ranks[1].problem or "")
    # Where the one that began it all is gone, nothing tells whose it was.
    gone = owners.of_one_user(ProcessTree(proc.root), Job(9, "starter", "here", [], ranks))
    assert [entry.pid for entry in gone.reachable] == []


def test_a_rank_of_another_user_is_not_waited_for(proc: MadeUpProc, monkeypatch: pytest.MonkeyPatch) -> None:
    below_the_launcher(proc, 1000, (2000, 2000, 2000))
    monkeypatch.setattr("mpi_queues.launchers.appearing.ProcessTree", lambda: ProcessTree(proc.root))
    assert list(_ranks_below(10)) == [(NAMESPACE, 0)]
