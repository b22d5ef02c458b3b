"""Jobs of PBS, LSF and PALS: by what stands for their commands, on hosts that are namespaces of this machine.

None of them is packaged for Debian; what stands for them behaves as their manuals or those who ask them say.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, Iterator

import pytest
from mpi_queues.cli import demo
from support import hosts, processes
from support.hosts import Hosts
from support.paths import PACKAGE, PROGRAMS
from support.transports import JOB

pytestmark = pytest.mark.skipif(hosts.why_not() is not None, reason=str(hosts.why_not()))

AGENT = "mpi-queues-agent"

#: Numbers of two applications of PALS.
ONE, OTHER = "1b4e28ba-2fa1-11d2-883f-0016d3cca427", "6fa459ea-ee8a-3ca4-894e-db77e160355e"

#: What the ranks of the jobs have in their environment: the same hosts, and other numbers, or none.
ENVIRONMENTS = (
    {"PBS_JOBID": "12.server", "LSB_JOBID": "501", "LSB_JOBINDEX": "4", "PALS_APID": ONE},
    {"PBS_JOBID": "13.server", "LSB_JOBID": "501", "LSB_JOBINDEX": "5", "PALS_APID": OTHER},
    {},
)

IN_LSF = {"LSB_JOBID": "501", "LSB_JOBINDEX": "4", "LSB_MCPU_HOSTS": "h1 4 h2 4 h3 4"}
IN_PBS = {"PBS_JOBID": "12.server"}


@pytest.fixture(scope="module")
def cluster(program: Path) -> Iterator[Hosts]:
    """Hosts with a deadlocked job on three of them, one of another number, and one without."""
    with Hosts(["h1", "h2", "h3"]) as made:
        standins = made.directory / "bin"
        standins.mkdir()
        words = shlex.join([sys.executable, str(PROGRAMS / "batch_standin.py")])
        scripts = {name: f"{words} {name}" for name in ("qstat", "bjobs", "blaunch", "palstat")}
        for name, script in {**scripts, "ssh": f"/usr/bin/ssh -F {made.directory}/ssh_config"}.items():
            (standins / name).write_text(f'#!/bin/sh\nexec {script} "$@"\n')
            (standins / name).chmod(0o755)
        made.environment["PATH"] = f"{standins}:{made.environment['PATH']}"
        made.environment["BATCH_STANDIN"] = str(made.directory / "batch.json")
        settle(made)
        for environment in ENVIRONMENTS:
            given = [word for name, value in environment.items() for word in ("-x", f"{name}={value}")]
            made.run(program, demo.RANKS, JOB, *given)
        yield made


def of_pbs(number: str, state: str = "R", **more: str) -> Dict[str, str]:
    """What PBS tells of a job. A user may give variables any value."""
    return {
        "id": f"{number}.server",
        "Job_Name": "halo",
        "Job_Owner": "root@login",
        "job_state": state,
        "exec_host": "h1/0*4+h2/0*4+h3/0*4",
        "Variable_List": f"PBS_O_HOME=/root,LONG={'x' * 200},BAD=\n    exec_host = h9/0\n    Job_Owner = daemon@login",
        **more,
    }


def settle(cluster: Hosts, **more: Any) -> None:
    """What the batch systems know."""
    known = {
        "qstat": {
            "12": of_pbs("12"),
            "13": of_pbs("13"),
            "14": of_pbs("14"),
            "20": of_pbs("20", "Q"),
            "21": of_pbs("21", exec_host="-x/0"),
        },
        "bjobs": {
            "501": ["RUN|root|4*h1", "RUN|root|4*h2"],
            "501[4]": ["RUN|root|4*h1:4*h2:4*h3"],
            "502": ["PEND|root|-"],
        },
        "palstat": {
            ONE: {"job": "12.server", "hosts": ["h1", "h2", "h3"]},
            OTHER: {"job": "13.server", "hosts": ["h1", "h2", "h3"]},
        },
        "head": "h1",
        **more,
    }
    (cluster.directory / "batch.json").write_text(json.dumps(known))


@pytest.fixture
def within(cluster: Hosts, request: pytest.FixtureRequest) -> Iterator[None]:
    """Commands are typed within a job."""
    before = dict(cluster.environment)
    cluster.environment.update(request.param)
    yield
    cluster.environment.clear()
    cluster.environment.update(before)


@pytest.mark.parametrize(
    ("name", "within"),
    [
        ("pbs:12", {}),
        ("pbs:12.server", {}),
        ("pbs:14", {}),
        ("lsf:501[4]", {}),
        ("lsf:501[4]", IN_LSF),
        ("pals:12", {}),
        (f"pals:12:{ONE}", {}),
        (f"pals:{ONE}", IN_PBS),
    ],
    indirect=["within"],
    ids=["pbs", "pbs-whole", "pbs-without", "lsf", "lsf-within", "pals", "pals-application", "pals-within"],
)
@pytest.mark.usual("pbs", "pbs-without", "lsf-within", "pals")
def test_a_job_of_a_batch_system_is_read_on_all_its_nodes(cluster: Hosts, name: str, within: None) -> None:
    told = cluster.mpi_queues("diagnose", "--job", name, "--format", "json")
    assert told.returncode == 0, told.stderr
    found = json.loads(told.stdout)
    assert [(one["rank"], one["host"]) for one in found["processes"]] == [(0, "h1"), (1, "h2"), (2, "h3")]
    assert found["verdict"]["state"] == "deadlock"
    assert not cluster.running(AGENT)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["ssh", "clush"])
def test_nodes_are_reached_by_the_engine_that_is_named(cluster: Hosts, engine: str) -> None:
    for name in ("pbs:12", "lsf:501[4]"):
        told = cluster.mpi_queues("show", "--job", name, "--engine", engine, "--format", "json")
        assert told.returncode == 0, told.stderr
        assert [one["rank"] for one in json.loads(told.stdout)["processes"]] == [0, 1, 2]
    refused = cluster.mpi_queues("show", "--job", "lsf:501[4]", "--engine", "blaunch")
    assert refused.returncode == 2 and "outside the job of LSF" in refused.stderr, refused.stderr


@pytest.mark.slow
def test_hosts_by_their_names_are_reached_by_ssh_alone(cluster: Hosts) -> None:
    told = cluster.mpi_queues("ranks", "hosts:h[1-3]", "--engine", "ssh", "--format", "json")
    assert told.returncode == 0, told.stderr
    assert len(json.loads(told.stdout)["processes"]) == len(ENVIRONMENTS) * demo.RANKS


@pytest.mark.slow
def test_an_agent_is_sent_through_ssh(cluster: Hosts) -> None:
    cluster.hide(PACKAGE / "bin")
    try:
        told = cluster.mpi_queues("show", "--job", "pbs:12", "--format", "json")
        assert told.returncode == 0, told.stderr
        assert [one["rank"] for one in json.loads(told.stdout)["processes"]] == [0, 1, 2]
    finally:
        cluster.unhide(PACKAGE / "bin")
    assert not cluster.running(AGENT) and not list(cluster.directory.glob("mpi-queues.*"))


def test_a_node_that_nobody_reaches_costs_its_own_rank(cluster: Hosts) -> None:
    cluster.stop_sshd("h3")
    try:
        # Far from its limit: it is known at once.
        told = cluster.mpi_queues("diagnose", "--job", "pbs:12", "--timeout", "3600", "--format", "json")
        assert told.returncode == 1, told.stderr
        assert "node h3: ssh ended there" in told.stderr and "Connection refused" in told.stderr, told.stderr
        assert "type: pbsnodes h3" in told.stderr
        found = json.loads(told.stdout)
        assert [one["rank"] for one in found["processes"] if one["mpi"] is None] == [2]
        assert found["verdict"]["state"] != "deadlock"
    finally:
        cluster.start_sshd("h3")


@pytest.mark.slow
def test_each_node_records_its_ranks(cluster: Hosts) -> None:
    place = cluster.directory / "hang"
    told = cluster.mpi_queues("record", "--job", "pbs:12", "-o", str(place))
    assert told.returncode == 0, told.stderr
    assert sorted(file.name for file in place.iterdir()) == ["h1.mpirec", "h2.mpirec", "h3.mpirec"]


@pytest.mark.parametrize(
    ("name", "status", "said"),
    [
        ("pbs:20", 3, "no job to look at: it is queued"),
        ("pbs:99", 3, "Unknown Job Id 99.server"),
        ("lsf:501", 3, "an array of 2 jobs"),
        ("lsf:502", 3, "no job to look at: it is PEND"),
        ("lsf:99", 3, "Job <99> is not found"),
        ("pals:99", 3, "Unknown Job Id 99.server"),
        ("pals:20", 3, "it is queued"),
        (f"pals:{ONE}", 3, "palstat: not in a job"),
        (f"pals:12:{ONE[::-1]}", 2, "not a job of PALS"),
        ("pbs:-f", 2, "not a job of PBS"),
        ("lsf:1;x", 2, "not a job of LSF"),
    ],
)
@pytest.mark.usual("pbs:20-*", "lsf:501-*", "pals:20-*")
def test_what_is_no_job_is_told(cluster: Hosts, name: str, status: int, said: str) -> None:
    told = cluster.mpi_queues("show", "--job", name)
    assert (told.returncode, told.stdout) == (status, "") and said in told.stderr, told.stderr
    assert "type" in told.stderr and "Traceback" not in told.stderr


def test_what_can_be_no_name_of_a_node_reaches_no_command(cluster: Hosts) -> None:
    told = cluster.mpi_queues("show", "--job", "pbs:21")
    assert told.returncode == 3 and "pbs:21: not a list of nodes: -x" in told.stderr, told.stderr


def test_of_several_applications_one_is_to_be_named(cluster: Hosts) -> None:
    both = {number: {"job": "12.server", "hosts": ["h1"]} for number in (ONE, OTHER)}
    settle(cluster, palstat=both)
    try:
        told = cluster.mpi_queues("show", "--job", "pals:12")
        assert told.returncode == 3 and "2 applications" in told.stderr
        assert f"--job pals:12:{ONE} or --job pals:12:{OTHER}" in told.stderr, told.stderr
    finally:
        settle(cluster)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.usual("9")
def test_whoever_is_killed_leaves_nothing_behind(cluster: Hosts, end: signal.Signals) -> None:
    command = [sys.executable, "-m", "mpi_queues.cli", "diagnose", "--job", "pbs:12", "--twice", "60"]
    running = subprocess.Popen(
        cluster.command(*command), env=cluster.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    processes.wait_until(lambda: len(cluster.running(AGENT)) == 3, "the agents to begin")
    (front,) = processes.children(running.pid)
    os.kill(front, end)
    running.communicate(timeout=60)
    processes.wait_until(lambda: not cluster.running(AGENT), "the agents to end", timeout=30)
