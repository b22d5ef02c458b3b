"""Jobs on hosts that ClusterShell reaches by ssh: namespaces of this machine, each with a real sshd."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Dict, Iterator, List

import pytest
from mpi_queues.cli import demo
from support import hosts, processes
from support.hosts import Hosts
from support.paths import PACKAGE
from support.transports import JOB

pytestmark = pytest.mark.skipif(hosts.why_not() is not None, reason=str(hosts.why_not()))

AGENT = "mpi-queues-agent"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Hosts]:
    with Hosts() as made:
        yield made


@pytest.fixture(scope="module")
def job(cluster: Hosts, program: Path) -> List[int]:
    """The ranks of a deadlocked job of three ranks on three of the four hosts, as this machine numbers them."""
    cluster.run(program, demo.RANKS, JOB)
    return cluster.running("demo")


def reasons(diagnosis: Dict[str, Any]) -> List[Any]:
    return [
        diagnosis["verdict"]["state"],
        *[(one["kind"], one["ranks"], one["summary"]) for one in diagnosis["diagnosis"]],
    ]


def here(pids: List[int]) -> Any:
    named = [word for pid in pids for word in ("--pid", str(pid))]
    told = subprocess.run(
        [sys.executable, "-m", "mpi_queues.cli", "diagnose", *named, "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
    )
    return json.loads(told.stdout)


def test_hosts_together_say_what_one_machine_says(cluster: Hosts, job: List[int]) -> None:
    told = cluster.mpi_queues("diagnose", "--job", "hosts:h[1-4]", "--format", "json")
    assert told.returncode == 0, told.stderr
    found = json.loads(told.stdout)
    ranks = [(process["rank"], process["host"]) for process in found["processes"]]
    assert ranks == [(rank, f"h{rank + 1}") for rank in range(demo.RANKS)]
    assert found["verdict"]["state"] == "deadlock"
    assert [one["state"] for one in found["verdict"]["movement"]] == ["stuck"] * demo.RANKS
    # This machine sees all processes of its namespaces.
    assert reasons(here(job)) == reasons(found)
    assert not cluster.running(AGENT)
    for pid in job:
        processes.assert_running(pid)


@pytest.mark.slow
def test_queues_and_stacks_of_all_hosts(cluster: Hosts, job: List[int]) -> None:
    shown = cluster.mpi_queues("show", "--job", "hosts:h2", "--rank", "1")
    assert "pending receives: 1" in shown.stdout and "unexpected messages: 1" in shown.stdout, shown.stderr
    stacks = cluster.mpi_queues("stacks", "--job", "hosts:h[1-3]")
    assert stacks.returncode == 0 and "receive_halo" in stacks.stdout, stacks.stderr


def test_a_host_without_sshd_costs_its_own_rank(cluster: Hosts, job: List[int]) -> None:
    cluster.stop_sshd("h3")
    try:
        # That it has failed is known at once, far from the limit.
        told = cluster.mpi_queues("diagnose", "--job", "hosts:h[1-4]", "--timeout", "3600", "--format", "json")
        assert told.returncode == 1, told.stderr
        assert "node h3: clush ended there" in told.stderr and "Connection refused" in told.stderr, told.stderr
        found = json.loads(told.stdout)
        (unread,) = [one for one in found["processes"] if one["mpi"] is None]
        assert unread["rank"] == 2 and "node h3" in unread["problems"][0]
        assert found["verdict"]["state"] != "deadlock"
    finally:
        cluster.start_sshd("h3")


@pytest.mark.slow
def test_gateways_hand_on_what_is_asked(cluster: Hosts, job: List[int]) -> None:
    """ClusterShell's tree: h1 is the gateway to the others."""
    topology = cluster.directory / "topology.conf"
    topology.write_text(f"[routes]\n{hosts.LOGIN}: h1\nh1: h[2-4]\n")
    try:
        told = cluster.mpi_queues("diagnose", "--job", "hosts:h[1-4]", "--format", "json")
        assert told.returncode == 0, told.stderr
        found = json.loads(told.stdout)
        assert [process["rank"] for process in found["processes"]] == [0, 1, 2]
        assert found["verdict"]["state"] == "deadlock"
    finally:
        topology.unlink()
    processes.wait_until(lambda: not cluster.running(AGENT), "the agents to end", timeout=30)


def left_behind(cluster: Hosts) -> List[Path]:
    """Directories that were made for an agent."""
    return list(cluster.directory.glob("mpi-queues.*"))


@pytest.fixture
def without_agent(cluster: Hosts) -> Iterator[None]:
    """The hosts do not have the package's agent: it has to be sent."""
    cluster.hide(PACKAGE / "bin")
    yield
    cluster.unhide(PACKAGE / "bin")


@pytest.mark.slow
def test_an_agent_that_hosts_do_not_have_is_sent(cluster: Hosts, job: List[int], without_agent: None) -> None:
    told = cluster.mpi_queues("diagnose", "--job", "hosts:h[1-4]", "--format", "json")
    assert told.returncode == 0, told.stderr
    found = json.loads(told.stdout)
    assert [process["rank"] for process in found["processes"]] == [0, 1, 2]
    assert found["verdict"]["state"] == "deadlock" and reasons(here(job)) == reasons(found)
    assert not cluster.running(AGENT) and not left_behind(cluster)


@pytest.mark.parametrize("seconds", [0.3, 0.6, 1.0, 1.5])
@pytest.mark.usual("1.0")
def test_nothing_of_a_sent_agent_is_left(cluster: Hosts, job: List[int], without_agent: None, seconds: float) -> None:
    """Whenever the one that sends it is killed."""
    command = [sys.executable, "-m", "mpi_queues.cli", "diagnose", "--job", "hosts:h[1-4]", "--twice", "60"]
    running = subprocess.Popen(
        cluster.command(*command), env=cluster.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    time.sleep(seconds)
    (front,) = processes.children(running.pid)
    os.kill(front, signal.SIGKILL)
    running.communicate(timeout=60)
    processes.wait_until(lambda: not cluster.running(AGENT), "the agents to end", timeout=30)
    processes.wait_until(lambda: not left_behind(cluster), "their directories to go", timeout=30)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_whoever_is_interrupted_leaves_nothing_behind(cluster: Hosts, job: List[int], end: signal.Signals) -> None:
    command = [sys.executable, "-m", "mpi_queues.cli", "diagnose", "--job", "hosts:h[1-4]", "--twice", "60"]
    running = subprocess.Popen(
        cluster.command(*command), env=cluster.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    processes.wait_until(lambda: len(cluster.running(AGENT)) == 4, "the agents to begin")
    time.sleep(1)
    (front,) = processes.children(running.pid)
    os.kill(front, end)
    running.communicate(timeout=60)
    processes.wait_until(lambda: not cluster.running(AGENT), "the agents to end", timeout=30)
    for pid in job:
        processes.assert_running(pid)


@pytest.mark.slow
def test_a_launcher_here_leads_to_its_ranks_elsewhere(cluster: Hosts, job: List[int]) -> None:
    """By the process ids of its table: on h1 and h2 they may be equal."""
    told = cluster.mpi_queues("diagnose", "--job", "mpirun.openmpi", "--format", "json")
    assert told.returncode == 0, told.stderr
    found = json.loads(told.stdout)
    assert [(one["rank"], one["host"]) for one in found["processes"]] == [(0, "h1"), (1, "h2"), (2, "h3")]
    assert found["verdict"]["state"] == "deadlock" and reasons(here(job)) == reasons(found)
    chosen = cluster.mpi_queues("stacks", "--job", "mpirun.openmpi", "--engine", "clush")
    assert chosen.returncode == 0 and "receive_halo" in chosen.stdout, chosen.stderr
    refused = cluster.mpi_queues("show", "--job", "mpirun.openmpi", "--engine", "srun")
    assert refused.returncode == 3 and "srun does not reach its other hosts" in refused.stderr
    place = cluster.directory / "hang"
    recorded = cluster.mpi_queues("record", "--job", "mpirun.openmpi", "-o", str(place))
    assert recorded.returncode == 0, recorded.stderr
    files = sorted(place.with_name("hang.nodes").iterdir())
    assert [file.name for file in files] == ["h1.mpirec", "h2.mpirec", "h3.mpirec"] and not place.exists()
    options = [word for file in files for word in ("--recording", str(file))]
    again = cluster.mpi_queues("diagnose", *options, "--format", "json")
    assert reasons(json.loads(again.stdout))[1:] == reasons(found)[1:]


@pytest.mark.slow
def test_of_a_launchers_ranks_elsewhere_those_that_are_not_reached_are_named(cluster: Hosts, job: List[int]) -> None:
    cluster.stop_sshd("h3")
    try:
        told = cluster.mpi_queues("diagnose", "--job", "mpirun.openmpi", "--format", "json")
        assert told.returncode == 1, told.stderr
        found = json.loads(told.stdout)
        (unread,) = [one for one in found["processes"] if one["mpi"] is None]
        assert (unread["rank"], unread["host"]) == (2, "h3")
        assert "out of reach from here" in unread["problems"][0] and "Connection refused" in unread["problems"][0]
        assert found["verdict"]["state"] != "deadlock"
        place = cluster.directory / "part"
        recorded = cluster.mpi_queues("record", "--job", "mpirun.openmpi", "-o", str(place))
        assert recorded.returncode == 1 and "node h3: " in recorded.stderr, recorded.stderr
        assert sorted(one.name for one in place.with_name("part.nodes").iterdir()) == ["h1.mpirec", "h2.mpirec"]
    finally:
        cluster.start_sshd("h3")


@pytest.mark.parametrize("launcher", ["mpirun.openmpi", "mpiexec.hydra"])
@pytest.mark.usual("mpirun.openmpi")
def test_ranks_here_and_elsewhere_are_read_together(
    cluster: Hosts, job: List[int], program: Path, launcher: str
) -> None:
    """Debian's hydra has no symbols: its table is found by the rank that is here."""
    if launcher == "mpiexec.hydra":
        of_mpich = program.with_name("of_mpich")
        source = program.with_name(demo.SOURCE.name)
        subprocess.run(["mpicc.mpich", "-g", "-O1", "-o", of_mpich, source], check=True)
        started = cluster.run_by_hydra(of_mpich, demo.RANKS, "h1")
    else:
        started = cluster.run(program, demo.RANKS, JOB, launcher="h1")
    try:
        told = cluster.mpi_queues("diagnose", "--job", launcher, "--format", "json", host="h1")
        assert told.returncode == 0, told.stderr
        found = json.loads(told.stdout)
        assert [(one["rank"], one["host"]) for one in found["processes"]] == [(0, "h1"), (1, "h2"), (2, "h3")]
        assert found["verdict"]["state"] == "deadlock"
        assert [one["state"] for one in found["verdict"]["movement"]] == ["stuck"] * demo.RANKS
        file = cluster.directory / f"{launcher}.mpirec"
        recorded = cluster.mpi_queues("record", "--job", launcher, "-o", str(file), host="h1")
        assert recorded.returncode == 0 and "1 process" in recorded.stdout, recorded.stderr
        there = sorted(file.with_name(f"{file.name}.nodes").iterdir())
        assert file.exists() and [one.name for one in there] == ["h2.mpirec", "h3.mpirec"]
        # The other job of these hosts is none of it.
        both = cluster.mpi_queues("show", "--job", "hosts:h[1-3]", "--format", "json")
        pids = [(one["host"], one["pid"]) for one in json.loads(both.stdout)["processes"]]
        assert len(pids) == 2 * demo.RANKS
        assert {(one["host"], one["pid"]) for one in found["processes"]} < set(pids)
    finally:
        for one in processes.descendants(started.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(one.pid, signal.SIGTERM)
        started.wait(30)


@pytest.mark.parametrize(
    "name", ["", "-x", "h1 h2", "h1\x1b[31m", "--help", "h1;reboot", "h1,$(reboot)", "@none", "h[1-"]
)
@pytest.mark.usual("h1 h2", "--help")
def test_what_is_no_set_of_nodes_is_refused(cluster: Hosts, name: str) -> None:
    told = cluster.mpi_queues("show", "--job", f"hosts:{name}")
    assert told.returncode in (2, 3) and told.stdout == "", told.stderr
    assert "\x1b" not in told.stderr and "Traceback" not in told.stderr
