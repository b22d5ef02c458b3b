"""Which engine is taken, and what it is asked for."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path
from typing import Dict, List, Optional, Tuple

import pytest
from mpi_queues import UsageError, UserError
from mpi_queues.launchers.model import Job, RankEntry, World
from mpi_queues.nodes.engines import AUTO, base, engine_of, engine_of_launcher, flux
from mpi_queues.nodes.engines.table import Table
from mpi_queues.targets.jobs import of_job, reaching_out
from mpi_queues.targets.lost import LostTarget
from mpi_queues.targets.nodes import NodesTarget


@pytest.mark.parametrize(
    ("job", "engine", "first"),
    [
        ("slurm:12", AUTO, "srun"),
        ("slurm:12.0", "srun", "srun"),
        ("slurm:12", "clush", "clush"),
        ("hosts:n[1-4]", AUTO, "clush"),
        ("flux:f123", "clush", "clush"),
    ],
)
def test_the_engine_is_that_of_the_job_unless_another_is_named(job: str, engine: str, first: str) -> None:
    chosen = engine_of(job, engine)
    assert chosen.command(["n1"], ["agent"])[0] == first
    assert chosen.name == job


@pytest.mark.parametrize(
    ("job", "engine"), [("slurm:12", "flux"), ("flux:f123", "srun"), ("hosts:n1", "flux"), ("hosts:n1", "srun")]
)
def test_an_engine_that_does_not_reach_a_job_is_refused(job: str, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    with pytest.raises(UsageError, match=f"{engine} does not reach its nodes"):
        engine_of(job, engine)


def test_in_an_allocation_srun_reaches_nodes_by_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "77")
    assert "--jobid=77" in engine_of("hosts:n[1-2]", "srun").command(["n1", "n2"], ["agent"])
    monkeypatch.setenv("SLURM_JOB_ID", "77;reboot")
    with pytest.raises(UsageError, match="outside an allocation"):
        engine_of("hosts:n1", "srun")


PLACES = (("n1", 70), ("n2", 70), ("n2", 71))


@pytest.mark.parametrize(
    ("installed", "environment", "engine", "first"),
    [
        (("srun", "clush"), {"SLURM_JOB_ID": "5"}, AUTO, "srun"),
        (("srun", "clush"), {}, AUTO, "clush"),
        (("clush",), {"SLURM_JOB_ID": "5"}, AUTO, "clush"),
        (("srun", "clush"), {"SLURM_JOB_ID": "5"}, "clush", "clush"),
        (("srun",), {}, AUTO, None),
        ((), {"SLURM_JOB_ID": "5"}, AUTO, None),
        (("srun", "clush"), {"SLURM_JOB_ID": "-x"}, "srun", None),
    ],
)
def test_a_launchers_other_hosts_are_reached_by_what_there_is(
    installed: Tuple[str, ...],
    environment: Dict[str, str],
    engine: str,
    first: Optional[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}" if name in installed else None)
    chosen = engine_of_launcher("mpirun (pid 4)", environment, PLACES, engine, user=1000)
    if first is None:
        assert chosen is None
        return
    assert chosen is not None and chosen.command(["n1"], ["agent"])[0] == first
    assert chosen.nodes() == ["n1", "n2"] and chosen.pids == {70, 71} and chosen.owner() == 1000


@pytest.mark.parametrize("host", ["-oProxyCommand=x", "n 1", "n1;reboot", "n1\x1b[2J", "", "n" * 300, "../n1"])
def test_names_that_a_launcher_has_written_down_are_not_believed(host: str) -> None:
    with pytest.raises(UserError, match="not a list of nodes") as refused:
        Table("mpirun (pid 4)", (("n1", 1), (host, 2)), 1000).nodes()
    assert str(refused.value.args[0]).isprintable()


def test_another_users_launcher_leads_to_no_host_unless_the_engine_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    entry = RankEntry(0, 0, 70, "n1", None, "unknown", False, "its table")
    job = Job(os.getpid(), "mpirun", "login", [World(0, None, 1, 0)], [entry])
    ranks = of_job(job)
    assert [type(one) for one in ranks] == [LostTarget]
    assert [type(one) for one in reaching_out(job, ranks)] == [NodesTarget]
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    assert reaching_out(job, ranks) == ranks
    assert [type(one) for one in reaching_out(job, ranks, "clush")] == [NodesTarget]


def test_words_reach_a_shell_as_they_are() -> None:
    words = ["sh", "-c", 'echo "$0 a"; b', "/a b/agent"]
    assert shlex.split(engine_of("hosts:n1").command(["n1"], words)[-1]) == words


def test_what_an_engine_says_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _stands_for_flux(tmp_path, monkeypatch, "exec cat /dev/zero")
    with pytest.raises(UserError, match="flux wrote more than 32 MiB"):
        base.said(["flux", "jobs"], "flux-core", "flux:f1")


def test_an_engine_is_given_words_and_asked_for_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # More than a pipe holds.
    words = "node1 " * 50_000
    _stands_for_flux(tmp_path, monkeypatch, "cat; echo so >&2; exit $1")
    assert base.said(["flux", "0"], "flux-core", "flux:f1", words) == words
    with pytest.raises(UserError, match="flux:f1: so"):
        base.said(["flux", "3"], "flux-core", "flux:f1")


def test_an_engine_that_does_not_answer_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "_ASKING", 0.2)
    _stands_for_flux(tmp_path, monkeypatch, "exec sleep 600")
    with pytest.raises(UserError, match="did not answer within"):
        base.said(["flux", "jobs"], "flux-core", "flux:f1")


def test_brokers_that_are_more_than_the_nodes_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ranks = tmp_path / "ranks"
    _stands_for_flux(
        tmp_path, monkeypatch, f'case "$*" in *ranks*) cat {ranks} ;; *hostlist*) echo n1 n2 ;; *) echo RUN n1 ;; esac'
    )
    for number, (said, known) in enumerate([("4,7", {4: "n1", 7: "n2"}), ("0-999999999," * 100_000, {}), ("4", {})]):
        ranks.write_text(said)
        assert flux._brokers(f"f{number}") == known


def _stands_for_flux(place: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    standin = place / "flux"
    standin.write_text(f"#!/bin/sh\n{script}\n")
    standin.chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")


@pytest.mark.parametrize(
    ("line", "nodes"),
    [
        ("srun: error: n2: task 1: Exited with exit code 127", ["n2"]),
        ("srun: error: n[1-3,07]: tasks 0-2,6: Exited with exit code 1", ["n1", "n2", "n3", "n07"]),
        ("srun: error: n1,login: tasks 0-1: Aborted", ["n1", "login"]),
        # By srun itself, after the others have answered.
        ("srun: error: n1,login: tasks 0-1: Killed", []),
        ("srun: error: n2: task 1: Segmentation fault (core dumped)", ["n2"]),
        ("srun: error: Task launch for StepId=7.1 failed on node n2: Communication connection failure", []),
        ("srun: error: Node failure on n2", ["n2"]),
        ("srun: error: n[1-999999999999]: tasks 0-1: Aborted", []),
        ("slurmstepd: error: execve(): mpi-queues-agent: Permission denied", []),
        ("1: sh: 1: exec: Exec format error", []),
    ],
)
def test_what_srun_says_of_a_task_that_has_ended(line: str, nodes: List[str]) -> None:
    found = engine_of("slurm:7").failed(line)
    assert list(found) == nodes or (not nodes and len(found) <= base.MAX_NODES)


def test_the_owner_of_a_job_is_who_its_engine_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for name in ("squeue", "flux"):
        (tmp_path / name).write_text('#!/bin/sh\ncat "$0.says"\n')
        (tmp_path / name).chmod(0o755)
    for job, command in (("slurm:7", "squeue"), ("slurm:7.0", "squeue"), ("flux:f7", "flux")):
        for said, owner in (("1000\n", 1000), ("1000\n1000\n", 1000), ("0\n", 0)):
            (tmp_path / f"{command}.says").write_text(said)
            assert engine_of(job).owner() == owner
        for said in ("", "alice\n", "1000\n1001\n", "-1\n", "9" * 30):
            (tmp_path / f"{command}.says").write_text(said)
            with pytest.raises(UserError, match="the owner of the job is not known"):
                engine_of(job).owner()
    # Of nodes by their names it is who asks, or who is named.
    assert engine_of("hosts:n[1-2]").owner() == os.geteuid()
    assert engine_of("hosts:@rack1,n1").owner() == os.geteuid()
    named = engine_of("hosts:root@n[1-2],@rack1")
    assert (named.owner(), named.name) == (0, "hosts:root@n[1-2],@rack1")
    with pytest.raises(UserError, match="there is no user no-such-user here"):
        engine_of("hosts:no-such-user@n1").owner()
    with pytest.raises(UsageError, match="not a set of nodes"):
        engine_of("hosts:root@-w")
