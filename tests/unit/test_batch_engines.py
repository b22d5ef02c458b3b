"""How jobs of PBS, LSF and PALS are named, which engine reaches their nodes, and what their commands say of them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Dict, Mapping, Optional, Tuple

import pytest
from mpi_queues import UsageError, UserError
from mpi_queues.nodes.engines import AUTO, engine_of, engine_of_launcher
from mpi_queues.watching import ending

#: An application of PALS, and another one.
ONE, OTHER = "1b4e28ba-2fa1-11d2-883f-0016d3cca427", "6fa459ea-ee8a-3ca4-894e-db77e160355e"


@pytest.fixture(autouse=True)
def outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """No job is the one in which the tests run."""
    for name in ("LSB_JOBID", "LSB_JOBINDEX", "PBS_JOBID", "SLURM_JOB_ID"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of commands: each writes the file beside it."""
    for name in ("qstat", "bjobs", "palstat"):
        (tmp_path / name).write_text('#!/bin/sh\ncat "$0.says"\n')
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def qstat(commands: Path, *lines: str) -> None:
    (commands / "qstat.says").write_text("\n".join(["Job Id: 12.server", *(f"    {line}" for line in lines), "", ""]))


@pytest.mark.parametrize(
    ("job", "engine", "called"),
    [
        ("pbs:12", AUTO, "ssh"),
        ("pbs:12[4].server-1.example", AUTO, "ssh"),
        ("pbs:12", "clush", "clush"),
        ("lsf:12", AUTO, "ssh"),
        ("lsf:12[4]", AUTO, "ssh"),
        ("pals:12", AUTO, "ssh"),
        (f"pals:{ONE}", AUTO, "ssh"),
        (f"pals:12.server:{ONE}", "clush", "clush"),
        ("hosts:n1", "ssh", "ssh"),
        ("slurm:12", "ssh", "ssh"),
        ("flux:f12", AUTO, "flux"),
    ],
)
def test_the_engine_of_a_job(job: str, engine: str, called: str) -> None:
    chosen = engine_of(job, engine)
    assert (chosen.name, chosen.called) == (job, called)


@pytest.mark.parametrize(
    "job",
    [
        *("pbs:", "pbs:-f", "pbs:12[]", "pbs:12[1-3]", "pbs:12;x", "pbs:12.-x", "pbs:12.a b", "pbs:١٢", "pbs:12\n"),
        *("lsf:", "lsf:-u", "lsf:12[a]", "lsf:12[]", "lsf:12.server", "lsf:0x1"),
        *("pals:", "pals:-n", "pals:12:", f"pals:12:{ONE}:", f"pals::{ONE}", f"pals:{ONE[:-1]}", "pals:../../x"),
    ],
)
def test_what_is_no_number_of_a_job_reaches_no_command(job: str) -> None:
    with pytest.raises(UsageError, match=r"not a job of (PBS|LSF|PALS)") as refused:
        engine_of(job)
    assert str(refused.value.help).startswith(f"type: --job {job.partition(':')[0]}:JOBID")


def test_blaunch_reaches_the_nodes_of_the_job_in_which_it_is_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LSB_JOBID", "12")
    # LSF sets it to 0 where the job is not an array.
    monkeypatch.setenv("LSB_JOBINDEX", "0")
    assert engine_of("lsf:12").called == "blaunch" and engine_of("lsf:12", "ssh").called == "ssh"
    assert engine_of("hosts:n1", "blaunch").called == "blaunch" and engine_of("hosts:n1").called == "clush"
    for other in ("lsf:13", "lsf:12[4]", "pbs:12"):
        assert engine_of(other).called == "ssh"
        with pytest.raises(UsageError, match="blaunch does not reach its nodes"):
            engine_of(other, "blaunch")
    monkeypatch.setenv("LSB_JOBINDEX", "4")
    assert engine_of("lsf:12[4]").called == "blaunch"


@pytest.mark.parametrize(
    ("installed", "environment", "own", "engine", "called"),
    [
        (("clush", "ssh"), {"PBS_JOBID": "12.s"}, {}, AUTO, "clush"),
        (("ssh",), {"PBS_JOBID": "12.s"}, {}, AUTO, "ssh"),
        (("ssh",), {}, {}, AUTO, None),
        (("ssh",), {}, {}, "ssh", "ssh"),
        (("blaunch", "clush"), {"LSB_JOBID": "12"}, {"LSB_JOBID": "12"}, AUTO, "blaunch"),
        (("blaunch", "clush"), {"LSB_JOBID": "12"}, {}, AUTO, "clush"),
        (("blaunch",), {"LSB_JOBID": "12"}, {"LSB_JOBID": "13"}, "blaunch", None),
    ],
)
def test_the_engine_of_a_launcher_within_a_job(
    installed: Tuple[str, ...],
    environment: Dict[str, str],
    own: Mapping[str, str],
    engine: str,
    called: Optional[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}" if name in installed else None)
    for name, value in own.items():
        monkeypatch.setenv(name, value)
    chosen = engine_of_launcher("mpirun (pid 4)", environment, (("n1", 70),), engine, user=1000)
    assert (None if chosen is None else chosen.called) == called


def test_what_pbs_says_of_a_job(commands: Path) -> None:
    places = "+".join(f"n{number}/0*64" for number in range(20))
    wrapped = "\n\t".join(places[at : at + 60] for at in range(0, len(places), 60))
    qstat(commands, "Job_Owner = root@login", "job_state = R", f"exec_host = {wrapped}", "exec_host = x/0")
    job = engine_of("pbs:12")
    assert job.nodes() == [f"n{number}" for number in range(20)] and job.owner() == 0
    assert job.one_of == {"PBS_JOBID": ["12.server", ""]} and job.job_variables == {}
    # Several chunks of one node.
    qstat(commands, "job_state = S", "exec_host = n1/0*2+n1/1*2+n2/0")
    assert job.nodes() == ["n1", "n2"]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["job_state = Q"], "it is queued"),
        (["job_state = R"], "it is not running"),
        (["job_state = B", "exec_host = n1/0"], "it is not running"),
        (["job_state = \x1b[2J", "exec_host = n1/0"], "it is not running"),
        (["job_state = R", "exec_host = -oProxyCommand=x/0"], "not a list of nodes"),
        (["job_state = R", "exec_host = n1;reboot/0"], "not a list of nodes"),
    ],
)
def test_what_is_no_job_with_nodes(commands: Path, lines: Tuple[str, ...], said: str) -> None:
    qstat(commands, *lines)
    with pytest.raises(UserError, match=said) as refused:
        engine_of("pbs:12").nodes()
    assert str(refused.value.args[0]).isprintable()


def test_the_owner_of_a_job_of_pbs_is_as_whom_it_runs(commands: Path) -> None:
    qstat(commands, "Job_Owner = daemon@login", "euser = root")
    assert engine_of("pbs:12").owner() == 0
    for line in ("Job_Owner = no-such-user@login", "Job_Owner = @login", "Job_Name = x"):
        qstat(commands, line)
        with pytest.raises(UserError, match="there is no user"):
            engine_of("pbs:12").owner()


def test_other_words_of_qstat_are_no_job(commands: Path) -> None:
    for said in ("", "usage: qstat", "Job Id: \n    job_state = R\n", "Job Id: 1 2\n"):
        (commands / "qstat.says").write_text(said)
        with pytest.raises(UserError, match="qstat lists no job"):
            engine_of("pbs:12").nodes()


def test_what_lsf_says_of_a_job(commands: Path) -> None:
    (commands / "bjobs.says").write_text("RUN|root|4*n1:n2:16*n3\n")
    job = engine_of("lsf:12[4]")
    assert job.nodes() == ["n1", "n2", "n3"] and job.owner() == 0
    assert job.one_of == {"LSB_JOBID": ["12", ""], "LSB_JOBINDEX": ["4", ""]}
    assert engine_of("lsf:12").one_of == {"LSB_JOBID": ["12", ""]}
    for said, why in (
        ("DONE|root|4*n1", "it is DONE"),
        ("", "LSF knows no job"),
        ("RUN root 4*n1", "LSF knows no job"),
        ("RUN|root|-", "not a list of nodes"),
        ("RUN|root|4*-x", "not a list of nodes"),
        ("RUN|root|n1\nRUN|root|n2", "an array of 2 jobs"),
    ):
        (commands / "bjobs.says").write_text(f"{said}\n")
        with pytest.raises(UserError, match=why):
            job.nodes()


def test_what_pals_says_of_an_application(commands: Path) -> None:
    (commands / "palstat.says").write_text("HOST EXECUTABLE PID\nn1 /a b/x 7\nn1 /a b/x 8\nn2 /a b/x 7\n\n")
    job = engine_of(f"pals:{ONE}")
    assert job.nodes() == ["n1", "n2"] and job.job_variables == {"PALS_APID": ONE} and job.owner() == os.geteuid()
    for said, why in (("HOST EXECUTABLE PID\n", "PALS knows no process"), ("HOST\n-x /a 7\n", "not a list of nodes")):
        (commands / "palstat.says").write_text(said)
        with pytest.raises(UserError, match=why):
            engine_of(f"pals:{ONE}").nodes()


def test_the_only_application_of_a_job_needs_no_number(commands: Path) -> None:
    qstat(commands, "Job_Owner = root@login", "job_state = R", "exec_host = n1/0*4+n2/0*4")
    of = {12: f"APID: {ONE}\n  JobID: 12.server\n  State: running\n", 120: f"APID: {OTHER}\n  JobID: 120.server\n"}
    (commands / "palstat.says").write_text(of[120] + of[12])
    job = engine_of("pals:12")
    assert job.job_variables == {"PALS_APID": ONE} and job.owner() == 0
    for said, why in (
        (of[120], "PALS runs no application in this job"),
        ("JobID: 12.server\nAPID: --help\n  JobID: 12.server\n", "PALS runs no application in this job"),
        (of[12] + of[12].replace(ONE, OTHER), "2 applications"),
    ):
        (commands / "palstat.says").write_text(said)
        with pytest.raises(UserError, match=why):
            _ = engine_of("pals:12").job_variables


def test_jobs_are_ended_by_their_own_command() -> None:
    assert ending.command("pbs:12") == ["qdel", "12"] and ending.command("lsf:12[4]") == ["bkill", "12[4]"]
    with pytest.raises(UsageError, match="mpi-queues does not end applications of PALS"):
        ending.command("pals:12")


def test_where_its_commands_are_not_the_next_step_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    for job, command, advice in (
        ("pbs:12", "qstat", "/opt/pbs/bin"),
        ("lsf:12", "bjobs", "profile.lsf"),
        (f"pals:{ONE}", "palstat", "module load cray-pals"),
    ):
        with pytest.raises(UserError, match=f"{command} is not installed here") as refused:
            engine_of(job).nodes()
        assert advice in str(refused.value.help)
