"""Jobs of flux: by what stands for its command, on hosts that are namespaces of this machine.

flux-core is packaged nowhere that the tests could have it from; what stands for it behaves as its sources say.
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
#: As flux-shell writes it to a job's environment, and as people type it.
IN_ENVIRONMENT, TYPED = "\u0192D2e73NP", "fD2e73NP"


@pytest.fixture(scope="module")
def cluster(program: Path) -> Iterator[Hosts]:
    """Hosts with a deadlocked job of flux on three of them, and one of another number."""
    with Hosts(["h1", "h2", "h3"]) as made:
        standin = made.directory / "bin" / "flux"
        standin.parent.mkdir()
        flux = shlex.quote(str(PROGRAMS / "flux_standin.py"))
        standin.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {flux} "$@"\n')
        standin.chmod(0o755)
        made.environment["PATH"] = f"{standin.parent}:{made.environment['PATH']}"
        made.environment["FLUX_STANDIN"] = str(made.directory / "flux.json")
        settle(made)
        for number in (IN_ENVIRONMENT, "\u0192other"):
            made.run(program, demo.RANKS, JOB, "-x", f"FLUX_JOB_ID={number}")
        yield made


def settle(cluster: Hosts, **more: Any) -> None:
    """What flux knows. Ranks of brokers are not indices into the nodes of a job."""
    job: Dict[str, Any] = {"nodes": ["h1", "h2", "h3"], "nodelist": "h[1-3]", "ranks": [4, 7, 9], **more}
    ended = {**job, "state": "INACTIVE"}
    content = {"jobs": {TYPED: job, "fended": ended}, "ssh": shlex.split(cluster.ssh)}
    (cluster.directory / "flux.json").write_text(json.dumps(content))


@pytest.mark.parametrize("name", [TYPED, IN_ENVIRONMENT])
@pytest.mark.usual("\\u0192D2e73NP")
def test_a_job_of_flux_is_read_on_all_its_nodes(cluster: Hosts, name: str) -> None:
    told = cluster.mpi_queues("diagnose", "--job", f"flux:{name}", "--format", "json")
    assert told.returncode == 0, told.stderr
    found = json.loads(told.stdout)
    assert [(one["rank"], one["host"]) for one in found["processes"]] == [(0, "h1"), (1, "h2"), (2, "h3")]
    assert found["verdict"]["state"] == "deadlock"
    assert not cluster.running(AGENT)


@pytest.mark.slow
def test_an_agent_is_sent_through_flux(cluster: Hosts) -> None:
    cluster.hide(PACKAGE / "bin")
    try:
        told = cluster.mpi_queues("show", "--job", f"flux:{TYPED}", "--format", "json")
        assert told.returncode == 0, told.stderr
        assert [one["rank"] for one in json.loads(told.stdout)["processes"]] == [0, 1, 2]
    finally:
        cluster.unhide(PACKAGE / "bin")
    assert not cluster.running(AGENT) and not list(cluster.directory.glob("mpi-queues.*"))


@pytest.mark.slow
def test_a_node_that_is_down_costs_its_own_rank(cluster: Hosts) -> None:
    settle(cluster, down=["h2"])
    try:
        # Far from its limit: it is not waited for a node that is down.
        told = cluster.mpi_queues("show", "--job", f"flux:{TYPED}", "--timeout", "3600", "--format", "json")
        assert told.returncode == 1 and "node h2: " in told.stderr and "No route to host" in told.stderr, told.stderr
        unread = [one["rank"] for one in json.loads(told.stdout)["processes"] if one["mpi"] is None]
        assert unread == [1]
    finally:
        settle(cluster)


@pytest.mark.parametrize(
    ("name", "status", "said"),
    [
        ("fended", 3, "it is not running"),
        ("fnone", 3, "unknown"),
        ("-f", 2, "not a job of flux"),
        ("f;x", 2, "not a job"),
    ],
)
def test_what_is_no_job_of_flux_is_told(cluster: Hosts, name: str, status: int, said: str) -> None:
    told = cluster.mpi_queues("show", "--job", f"flux:{name}")
    assert (told.returncode, told.stdout) == (status, "") and said in told.stderr, told.stderr


@pytest.mark.slow
def test_whoever_is_killed_leaves_nothing_behind(cluster: Hosts) -> None:
    command = [sys.executable, "-m", "mpi_queues.cli", "diagnose", "--job", f"flux:{TYPED}", "--twice", "60"]
    running = subprocess.Popen(
        cluster.command(*command), env=cluster.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    processes.wait_until(lambda: len(cluster.running(AGENT)) == 3, "the agents to begin")
    (front,) = processes.children(running.pid)
    os.kill(front, signal.SIGKILL)
    running.communicate(timeout=60)
    processes.wait_until(lambda: not cluster.running(AGENT), "the agents to end", timeout=30)
