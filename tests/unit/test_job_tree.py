"""Jobs found in made-up trees of processes: wrappers, forks, several launchers, hostile contents."""

from __future__ import annotations

import pathlib
from typing import Dict, List, Optional, Tuple

import pytest
from mpi_queues.errors import UserError
from mpi_queues.launchers import finding, hosts, tables
from mpi_queues.launchers.job import job_of
from mpi_queues.launchers.model import Job
from mpi_queues.launchers.tables import Row, Table
from mpi_queues.launchers.tree import ProcessTree
from support.made_up_proc import MadeUpProc

MPI = ["/usr/lib/libmpi.so.40.30.4"]


@pytest.fixture
def proc(tmp_path: pathlib.Path) -> MadeUpProc:
    return MadeUpProc(tmp_path)


def ompi(rank: int, size: int = 2, world: str = "65537") -> Dict[str, str]:
    return {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(size), "PMIX_NAMESPACE": world}


def pmi(rank: int, size: int = 2, **more: str) -> Dict[str, str]:
    return {"PMI_RANK": str(rank), "PMI_SIZE": str(size), **more}


def job(proc: MadeUpProc, spec: Optional[str], table: Optional[Table] = None) -> Job:
    tree = ProcessTree(proc.root)
    return job_of(tree, finding.find(tree, spec), lambda *_: table)


def places(found: Job) -> List[Tuple[int, Optional[int], Optional[int]]]:
    return [(entry.world, entry.rank, entry.pid) for entry in found.ranks]


def refused(proc: MadeUpProc, spec: Optional[str]) -> str:
    with pytest.raises(UserError) as caught:
        job(proc, spec)
    return str(caught.value)


def plain_job(proc: MadeUpProc, launcher: int = 10, parent: int = 1, world: str = "65537") -> None:
    proc.add(launcher, parent, ["/usr/bin/mpirun", "-n", "2", "a"])
    for rank in range(2):
        proc.add(launcher + 1 + rank, launcher, ["a"], ompi(rank, world=world), maps=MPI)


def test_by_pid_by_name_by_rank_and_alone(proc: MadeUpProc) -> None:
    proc.add(5, 1, ["/bin/sh", "/home/me/run.sh"])
    plain_job(proc, parent=5)
    for spec in (None, "10", "11", "12", "5", "mpirun", "/usr/bin/mpirun", "run.sh"):
        found = job(proc, spec)
        assert (found.pid, found.launcher, places(found)) == (10, "mpirun", [(0, 0, 11), (0, 1, 12)]), spec
        assert [entry.problem for entry in found.ranks] == [None, None]


def test_two_jobs_are_told_apart(proc: MadeUpProc) -> None:
    proc.add(5, 1, ["/bin/sh", "/home/me/run.sh"])
    plain_job(proc, 10, 5, "65537")
    plain_job(proc, 20, 5, "131073")
    for spec, what in (
        (None, "2 launchers are running"),
        ("mpirun", "launchers called 'mpirun'"),
        ("5", "below pid 5"),
    ):
        said = refused(proc, spec)
        assert what in said
        assert "pid 10: /usr/bin/mpirun -n 2 a" in said
        assert "pid 20: /usr/bin/mpirun -n 2 a" in said
        assert said.endswith("name one by its pid, such as: 10")
    assert places(job(proc, "20")) == [(0, 0, 21), (0, 1, 22)]
    assert job(proc, "22").pid == 20


def test_what_is_no_job_is_told(proc: MadeUpProc) -> None:
    assert "no MPI launcher is running" in refused(proc, None)
    proc.add(7, 1, ["emacs", "mpirun.c"])
    assert "no MPI launcher is running" in refused(proc, None)
    assert "pid 7 (emacs): not an MPI launcher" in refused(proc, "7")
    assert "pid 99999998: no such process" in refused(proc, "99999998")
    assert "no such process" in refused(proc, "9" * 5000)
    assert "'\\x1b[2J': no launcher of that name" in refused(proc, "\x1b[2J")
    proc.add(8, 1, ["mpirun"], letter="Z")
    assert "pid 8 (mpirun): it has ended" in refused(proc, "8")
    proc.add(9, 1, ["mpirun", "-n", "2", "a"])
    assert "none of its ranks was found" in refused(proc, "9")


def test_a_script_around_the_program_is_not_the_rank(proc: MadeUpProc) -> None:
    proc.add(10, 1, ["mpirun"])
    proc.add(11, 10, ["/bin/sh", "wrap.sh"], ompi(0))
    proc.add(12, 11, ["strace", "a"], ompi(0))
    # strace's debugger has the library open, and executes nothing of it.
    proc.add(13, 12, ["a"], ompi(0), maps=MPI)
    proc.add(21, 10, ["a"], ompi(1), maps=MPI)
    found = job(proc, "10")
    assert places(found) == [(0, 0, 13), (0, 1, 21)]
    assert found.ranks[0].origin.endswith("started through pid 11 (wrap.sh)")


def test_forks_and_commands_of_a_rank_are_not_the_rank(proc: MadeUpProc) -> None:
    proc.add(10, 1, ["mpirun"])
    proc.add(11, 10, ["a"], ompi(0), maps=MPI)
    proc.add(12, 11, ["a"], ompi(0), maps=MPI)
    proc.add(13, 11, ["sh", "-c", "sleep"], ompi(0))
    proc.add(21, 10, ["a"], ompi(1), maps=MPI)
    found = job(proc, "10")
    assert places(found) == [(0, 0, 11), (0, 1, 21)]
    assert found.ranks[0].origin.endswith("it has forked pid 12 (a)")


def test_where_nothing_tells_the_first_is_taken_and_it_is_said(proc: MadeUpProc) -> None:
    proc.add(10, 1, ["mpirun"])
    proc.add(11, 10, ["/bin/sh", "wrap.sh"], ompi(0, 3))
    proc.add(12, 11, ["sleep", "9"], ompi(0, 3))
    proc.add(21, 10, ["sleep", "9"], ompi(1, 3))
    proc.add(31, 10, ["/bin/sh", "wrap.sh"], ompi(2, 3))
    proc.add(32, 31, ["a"], ompi(2, 3), maps=MPI)
    proc.add(33, 31, ["b"], ompi(2, 3), maps=MPI)
    found = job(proc, "10")
    assert places(found) == [(0, 0, 11), (0, 1, 21), (0, 2, 32)]
    problems = [entry.problem or "" for entry in found.ranks]
    assert "it is not known which of its processes uses MPI, if any: pid 11 (wrap.sh), pid 12 (sleep)" in problems[0]
    assert "no MPI library is loaded in it" in problems[1]
    assert "several processes of this rank use MPI; the first is read: pid 32 (a), pid 33 (b)" in problems[2]


def test_ended_ranks_and_what_they_left_behind(proc: MadeUpProc) -> None:
    local = {"OMPI_COMM_WORLD_LOCAL_SIZE": "4"}
    proc.add(10, 1, ["mpirun"])
    proc.add(11, 10, ["a"], {**ompi(0, 4), **local}, maps=MPI)
    proc.add(12, 10, ["a"], {**ompi(1, 4), **local}, maps=MPI, letter="Z")
    # A child of rank 2, which has ended: whoever adopts orphans is its parent.
    proc.add(14, 1, ["a"], {**ompi(2, 4), **local}, maps=MPI)
    found = job(proc, "10")
    assert places(found) == [(0, 0, 11), (0, 1, None), (0, 2, 14), (0, 3, None)]
    assert [entry.state for entry in found.ranks] == ["sleeping", "ended", "sleeping", "ended"]
    assert "not below the launcher: its parent is pid 1 (init)" in (found.ranks[2].problem or "")
    assert found.ranks[3].problem == "it has ended"


def test_a_rank_whose_main_thread_has_ended_lives_by_its_others(proc: MadeUpProc) -> None:
    proc.add(10, 1, ["mpirun"])
    proc.add(11, 10, ["a"], ompi(0, 3), maps=MPI, letter="Z", threads={15: "Z", 17: "R", 16: "S"})
    proc.add(12, 10, ["a"], ompi(1, 3), maps=MPI, letter="X", threads={18: "D"})
    proc.add(13, 10, ["a"], ompi(2, 3), maps=MPI, letter="Z", threads={19: "Z"})
    found = job(proc, "10")
    assert places(found)[:2] == [(0, 0, 11), (0, 1, 12)]
    assert [(entry.state, entry.problem) for entry in found.ranks[:2]] == [("sleeping", None), ("waiting", None)]
    assert all("its main thread has ended, but others go on" in entry.origin for entry in found.ranks[:2])
    assert found.ranks[2].pid is None
    tree = ProcessTree(proc.root)
    assert [tree.has_mpi(pid) for pid in (11, 12, 13)] == [True, True, False]
    assert tree.command(11) == ("a",) and tree.command(13) == ()


def test_ranks_that_may_be_elsewhere_are_not_called_ended(proc: MadeUpProc) -> None:
    proc.add(10, 1, ["mpirun"])
    proc.add(11, 10, ["a"], {**ompi(0, 2), "OMPI_COMM_WORLD_LOCAL_SIZE": "1"}, maps=MPI)
    lost = job(proc, "10").ranks[1]
    assert (lost.state, lost.here, lost.host) == ("unknown", False, None)
    assert "it has ended, or runs on another host" in (lost.problem or "")


def test_a_job_inside_of_a_rank_is_another_job(proc: MadeUpProc) -> None:
    plain_job(proc, 10)
    # Rank 1 of the outer job starts a job; its launcher hands the outer rank's variables on.
    proc.add(20, 12, ["mpiexec.hydra"], ompi(1))
    proc.add(21, 20, ["hydra_pmi_proxy", "--pgid", "0"], ompi(1))
    proc.add(22, 21, ["b"], {**ompi(1), **pmi(0)}, maps=MPI)
    proc.add(23, 21, ["b"], {**ompi(1), **pmi(1)}, maps=MPI)
    assert places(job(proc, "10")) == [(0, 0, 11), (0, 1, 12)]
    assert places(job(proc, "20")) == [(0, 0, 22), (0, 1, 23)]
    assert job(proc, "23").pid == 20
    assert "2 launchers are running" in refused(proc, None)


def test_a_script_that_is_called_like_a_launcher(proc: MadeUpProc) -> None:
    # Intel's mpirun is a script around mpiexec.hydra.
    proc.add(10, 1, ["/bin/sh", "/opt/intel/bin/mpirun", "-n", "2"])
    proc.add(11, 10, ["mpiexec.hydra", "-n", "2"])
    proc.add(12, 11, ["hydra_pmi_proxy"])
    proc.add(13, 12, ["a"], pmi(0))
    proc.add(14, 12, ["a"], pmi(1))
    for spec in (None, "10", "11", "mpirun", "mpiexec", "mpiexec.hydra"):
        assert (job(proc, spec).pid, len(job(proc, spec).ranks)) == (11, 2), spec


def test_srun_has_a_second_process_of_its_own_name(proc: MadeUpProc) -> None:
    proc.add(10, 1, ["srun", "-n", "1", "a"])
    proc.add(11, 10, ["srun", "-n", "1", "a"])
    assert finding.find(ProcessTree(proc.root), None) == 10


def test_daemons_that_came_by_ssh(proc: MadeUpProc) -> None:
    proxy = ["hydra_pmi_proxy", "--control-port", "here:4711", "--pgid", "0"]
    proc.add(10, 1, ["mpiexec"])
    proc.add(11, 10, ["ssh", "-x", "here", " ".join(f'"{word}"' for word in proxy)])
    proc.add(30, 1, ["sshd"])
    proc.add(31, 30, proxy)
    proc.add(32, 31, ["a"], pmi(0), maps=MPI)
    proc.add(33, 31, ["a"], pmi(1), maps=MPI)
    # Of another job.
    proc.add(41, 30, ["hydra_pmi_proxy", "--control-port", "here:4712", "--pgid", "0"])
    proc.add(42, 41, ["a"], pmi(0), maps=MPI)
    assert places(job(proc, "10")) == [(0, 0, 32), (0, 1, 33)]
    assert job(proc, "33").pid == 10


def test_worlds_of_hydra_with_a_proxy_for_each(proc: MadeUpProc) -> None:
    proc.add(10, 1, ["mpiexec"])
    proc.add(11, 10, ["hydra_pmi_proxy", "--pgid", "0"])
    proc.add(12, 11, ["a"], pmi(0, 1), maps=MPI)
    proc.add(13, 10, ["hydra_pmi_proxy", "--pgid", "1"])
    proc.add(14, 13, ["a"], pmi(0, 2, PMI_SPAWNED="1"), maps=MPI)
    proc.add(15, 13, ["a"], pmi(1, 2, PMI_SPAWNED="1"), maps=MPI)
    found = job(proc, "10")
    assert places(found) == [(0, 0, 12), (1, 0, 14), (1, 1, 15)]
    assert [(world.size, world.first, world.parent) for world in found.worlds] == [(1, 0, None), (2, 1, 0)]


def test_worlds_of_hydra_with_one_proxy_for_all(proc: MadeUpProc) -> None:
    proc.add(10, 1, ["mpiexec"])
    proc.add(11, 10, ["hydra_pmi_proxy", "--pgid", "0"])
    proc.add(12, 11, ["a"], pmi(0, 1), maps=MPI)
    for pid, rank in ((21, 0), (22, 1), (31, 0), (32, 1)):
        proc.add(pid, 11, ["a"], pmi(rank, 2, PMI_SPAWNED="1"), maps=MPI)
    found = job(proc, "10")
    assert places(found) == [(0, 0, 12), (1, 0, 21), (1, 1, 22), (2, 0, 31), (2, 1, 32)]
    assert [world.first for world in found.worlds] == [0, 1, 3]
    assert all("order in which" in (world.note or "") for world in found.worlds[1:])


def test_a_world_before_that_has_ended_leaves_the_universe_unknown(proc: MadeUpProc) -> None:
    proc.add(10, 1, ["prterun"])
    proc.add(12, 10, ["a"], ompi(0, 1, "prterun-here-10@2"), maps=MPI)
    (world,) = job(proc, "10").worlds
    assert (world.name, world.first) == ("prterun-here-10@2", None)


def test_hostile_contents(proc: MadeUpProc) -> None:
    proc.add(10, 1, ["mpirun"])
    proc.add(11, 10, [b"\x1b[2J\xff\n"], ompi(0, 2_000_000_000), name=b"a) R 1 (b\xff\n", maps=MPI)
    proc.add(12, 10, ["a"], ompi(1, 2_000_000_000, "x" * 100_000), maps=MPI)
    proc.add(13, 10, [], raw_environment=b"=\0\0PMI_RANK\0\xff\xfe=\xff\0" + b"A" * 100_000)
    proc.add(14, 10, ["a"], pmi(9, 2), maps=MPI)
    (proc.root / "15").mkdir()
    (proc.root / "16").mkdir()
    (proc.root / "16" / "stat").write_bytes(b"16 (x S")
    (proc.root / "٣").mkdir()
    found = job(proc, "10")
    assert [entry.pid for entry in found.ranks if entry.pid] == [11, 12]
    assert len(found.ranks) < 20_000
    assert any("only" in problem and "are listed" in problem for problem in found.problems)
    assert any("PMI_RANK is 9 and PMI_SIZE is 2" in problem for problem in found.problems)
    every = [found.launcher, *found.problems, *(str(entry) for entry in found.ranks)]
    assert all(text.isprintable() for text in every)


def test_parents_that_go_round_in_a_circle(proc: MadeUpProc) -> None:
    # Not all of /proc is read at one moment.
    proc.add(10, 12, ["mpirun"])
    proc.add(11, 10, ["a"], ompi(0, 1), maps=MPI)
    proc.add(12, 11, ["b"])
    tree = ProcessTree(proc.root)
    assert tree.descendants(10) == [11, 12]
    assert sorted(tree.ancestors(10)) == [11, 12]
    assert places(job(proc, "10")) == [(0, 0, 11)]


def table(*rows: Row) -> Table:
    return Table("MPIR_proctable of mpirun (pid 10)", dict(enumerate(rows)))


def test_a_table_that_agrees_is_named_beside_the_environment(proc: MadeUpProc) -> None:
    proc.add(10, 1, ["mpirun"])
    proc.add(11, 10, ["/bin/sh", "wrap.sh"], ompi(0))
    proc.add(12, 11, ["a"], ompi(0), maps=MPI)
    proc.add(21, 10, ["a"], ompi(1), maps=MPI)
    found = job(proc, "10", table(Row("localhost", "wrap.sh", 11), Row("localhost", "a", 21)))
    assert places(found) == [(0, 0, 12), (0, 1, 21)]
    assert [entry.problem for entry in found.ranks] == [None, None]
    assert found.ranks[0].origin == (
        "MPIR_proctable of mpirun (pid 10), and its environment: OMPI_COMM_WORLD_RANK; started through pid 11 (wrap.sh)"
    )


def test_where_table_and_environment_disagree_both_are_told(proc: MadeUpProc) -> None:
    plain_job(proc)
    rows = Row("localhost", "a", 12), Row("localhost", "a", 99999998), Row("localhost", "a", 99999997)
    found = job(proc, "10", table(*rows))
    assert places(found) == [(0, 0, 11), (0, 1, 12), (0, 2, 99999997)]
    problems = [entry.problem or "" for entry in found.ranks]
    assert "names pid 12, but its environment leads to pid 11" in problems[0]
    assert "names pid 99999998, which is gone, but its environment leads to pid 12" in problems[1]
    assert (found.ranks[2].state, problems[2]) == ("ended", "it has ended: there is no such process")
    found = job(proc, "10", table(Row("localhost", "a", 11)))
    assert "MPIR_proctable of mpirun (pid 10) has no rank 1" in (found.ranks[1].problem or "")


def test_ranks_on_other_hosts_are_known_from_the_table_alone(proc: MadeUpProc) -> None:
    proc.add(10, 1, ["mpirun"])
    proc.add(11, 10, ["a"], ompi(0), maps=MPI)
    # A process of this machine has the number that the other one has there.
    proc.add(77, 1, ["other"])
    found = job(proc, "10", table(Row("localhost", "a", 11), Row("faraway", "a", 77)))
    there = found.ranks[1]
    assert (there.pid, there.host, there.here, there.state) == (77, "faraway", False, "unknown")
    assert [entry.pid for entry in found.reachable] == [11]


def test_a_process_that_has_another_number_now_is_not_the_rank(proc: MadeUpProc) -> None:
    proc.add(77, 1, ["older"])
    proc.add(10, 1, ["mpirun"])
    proc.add(11, 10, ["a"], ompi(0), maps=MPI)
    found = job(proc, "10", table(Row("localhost", "a", 11), Row("localhost", "a", 77)))
    assert (found.ranks[1].state, found.ranks[1].problem) == (
        "ended",
        "it has ended: pid 77 is another process now (older), not of this job",
    )
    assert [entry.pid for entry in found.reachable] == [11]


def test_ranks_without_their_environment_are_known_from_the_table(proc: MadeUpProc) -> None:
    proc.add(10, 1, ["mpirun"])
    proc.add(11, 10, ["env", "-i", "a"], {})
    proc.add(12, 11, ["a"], {}, maps=MPI)
    # slurmstepd's children are not below srun.
    proc.add(30, 1, ["slurmstepd"])
    proc.add(31, 30, ["a"], {"SLURM_PROCID": "1", "SLURM_JOB_ID": "5", "SLURM_STEP_ID": "0"}, maps=MPI)
    found = job(proc, "10", table(Row("localhost", "a", 11), Row("localhost", "a", 31)))
    assert places(found) == [(0, 0, 12), (0, 1, 31)]
    assert [(world.size, world.first) for world in found.worlds] == [(2, 0)]
    assert [entry.problem for entry in found.ranks] == [None, None]


def test_damaged_entries_of_a_table(proc: MadeUpProc) -> None:
    plain_job(proc)
    rows = Row(None, None, None, "its entry cannot be read"), Row("localhost", None, 12), Row("\x1b[2J", None, 5)
    found = job(proc, "10", table(*rows))
    assert places(found)[:2] == [(0, 0, 11), (0, 1, 12)]
    assert "names no process (its entry cannot be read)" in (found.ranks[0].problem or "")
    assert not found.ranks[2].here


def test_the_table_of_the_first_world_is_not_laid_on_a_spawned_one(proc: MadeUpProc) -> None:
    proc.add(10, 1, ["prterun"])
    proc.add(11, 10, ["a"], ompi(0, 1, "prterun-here-10@1"), maps=MPI)
    proc.add(12, 10, ["a"], {**ompi(0, 1, "prterun-here-10@2"), "OMPI_PARENT_PORT": "2309685249.0:1"}, maps=MPI)
    found = job(proc, "10", table(Row("localhost", "a", 11)))
    assert places(found) == [(0, 0, 11), (1, 0, 12)]
    assert [entry.problem for entry in found.ranks] == [None, None]
    assert found.worlds[1].parent == 0


@pytest.mark.parametrize(
    "options",
    [
        ["--runtime-options", "output-proctable=table"],
        ["--runtime-options=report-child-jobs-separately,output-proctable=table"],
        ["--rtos", "output-proctable=table"],
    ],
)
def test_the_file_that_prterun_was_told_to_write(proc: MadeUpProc, tmp_path: pathlib.Path, options: List[str]) -> None:
    proc.add(10, 1, ["prterun", *options, "-n", "2", "a"])
    (proc.root / "10" / "cwd").symlink_to(tmp_path)
    (tmp_path / "table").write_text(
        "(rank, host, exe, pid) = (0, vm, /a (b), c, 12)\nnoise\n(rank, host, exe, pid) = (1, vm, x, 9999999999)\n"
    )
    found = tables.written(ProcessTree(proc.root), 10)
    assert found is not None
    assert found.rows == {0: Row("vm", "/a (b), c", 12), 1: Row("vm", "x", None)}
    (tmp_path / "table").write_bytes(b"\xff" * 1000)
    found = tables.written(ProcessTree(proc.root), 10)
    assert found is not None
    assert not found.rows
    assert "lists no process" in found.problems[0]
    (tmp_path / "table").unlink()
    found = tables.written(ProcessTree(proc.root), 10)
    assert found is not None
    assert "table cannot be read: No such file" in found.problems[0]


@pytest.mark.parametrize("option", ["output-proctable", "output-proctable=-", "output-proctable=+", "x=y"])
def test_a_table_that_is_not_in_a_file(proc: MadeUpProc, option: str) -> None:
    proc.add(10, 1, ["prterun", "--runtime-options", option])
    assert tables.written(ProcessTree(proc.root), 10) is None


def test_which_hosts_are_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "node1")
    for name in ("node1", "NODE1", "node1.example.org", "localhost", "127.0.0.1"):
        assert hosts.is_here(name), name
    for other in (None, "", "node2", "node10", "node2.example.org", "192.0.2.250"):
        assert not hosts.is_here(other), other


@pytest.mark.parametrize(("user", "remedy"), [(1000, "type: sudo mpi-queues ranks 10"), (0, "--cap-add=SYS_PTRACE")])
def test_processes_of_others_are_told_with_what_to_type(
    proc: MadeUpProc, monkeypatch: pytest.MonkeyPatch, user: int, remedy: str
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: user)
    plain_job(proc)
    (proc.root / "12" / "environ").unlink()
    found = job(proc, "10")
    assert any("pid 12 (a) below the launcher cannot be read" in problem for problem in found.problems)
    assert places(found) == [(0, 0, 11), (0, 1, None)]
    (proc.root / "10" / "environ").unlink()
    said = refused(proc, "10")
    assert "pid 10 (mpirun): belongs to root (uid 0), and the kernel does not let you look at it" in said
    assert said.endswith(remedy)
