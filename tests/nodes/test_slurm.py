"""Jobs of Slurm on several nodes: virtual ones of a real Slurm, which the tests start and end."""

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

import mpi_queues
import pytest
from mpi_queues import UsageError, UserError
from mpi_queues.cli import demo
from mpi_queues.nodes.engines import engine_of
from mpi_queues.nodes.gathering import Gathering
from mpi_queues.system import agent
from support import processes
from support.slurm import Slurm
from support.transports import JOB


@pytest.fixture(scope="module")
def slurm() -> Iterator[Slurm]:
    with Slurm(8) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def job(slurm: Slurm, program: Path) -> str:
    """The number of a deadlocked job of three ranks on three nodes."""
    return slurm.run(program, demo.RANKS, JOB)


def command(*words: str) -> List[str]:
    return [sys.executable, "-m", "mpi_queues.cli", *words]


def told(slurm: Slurm, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*words), env=slurm.environment, capture_output=True, text=True, check=False, timeout=120
    )


def agents(slurm: Slurm) -> List[int]:
    """Those of this cluster: other tests have their own."""
    found = []
    mine = f"SLURM_CONF={slurm.environment['SLURM_CONF']}".encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                name, environment = (entry / "comm").read_bytes(), (entry / "environ").read_bytes()
                if name.strip() == b"mpi-queues-agent"[:15] and mine in environment.split(b"\0"):
                    found.append(int(entry.name))
    return found


def pids_of(snapshot: Dict[str, Any]) -> List[int]:
    return [process["pid"] for process in snapshot["processes"]]


def reasons(diagnosis: Dict[str, Any]) -> List[Any]:
    return [
        diagnosis["verdict"]["state"],
        *[(one["kind"], one["ranks"], one["summary"]) for one in diagnosis["diagnosis"]],
    ]


def test_nodes_together_say_what_one_machine_says(slurm: Slurm, job: str) -> None:
    over_nodes = told(slurm, "diagnose", "--job", f"slurm:{job}", "--format", "json")
    assert over_nodes.returncode == 0, over_nodes.stderr
    found = json.loads(over_nodes.stdout)
    assert [process["rank"] for process in found["processes"]] == list(range(demo.RANKS))
    assert found["verdict"]["state"] == "deadlock"
    assert [one["state"] for one in found["verdict"]["movement"]] == ["stuck"] * demo.RANKS
    # The virtual nodes share one /proc: the same ranks can be read here.
    named = [word for pid in pids_of(found) for word in ("--pid", str(pid))]
    here = told(slurm, "diagnose", *named, "--format", "json")
    assert reasons(json.loads(here.stdout)) == reasons(found)
    assert not agents(slurm)
    for pid in pids_of(found):
        processes.assert_running(pid)


@pytest.mark.slow
def test_queues_and_stacks_of_all_nodes(slurm: Slurm, job: str) -> None:
    shown = told(slurm, "show", "--job", f"slurm:{job}.0", "--rank", "1")
    assert shown.returncode == 0, shown.stderr
    assert "pending receives: 1" in shown.stdout and "unexpected messages: 1" in shown.stdout
    stacks = told(slurm, "stacks", "--job", f"slurm:{job}")
    assert stacks.returncode == 0 and "receive_halo" in stacks.stdout, stacks.stderr


def test_the_ranks_of_all_nodes_are_listed(slurm: Slurm, job: str) -> None:
    listed = told(slurm, "ranks", f"slurm:{job}", "--format", "json")
    assert listed.returncode == 0, listed.stderr
    found = json.loads(listed.stdout)
    assert [one["rank"] for one in found["processes"]] == list(range(demo.RANKS))
    assert all(one["executable"].endswith("/demo") for one in found["processes"])
    assert (found["job"]["pid"], found["job"]["launcher"]) == (None, f"slurm:{job}")
    shown = told(slurm, "ranks", "--job", f"slurm:{job}.0")
    assert shown.returncode == 0 and f"slurm:{job}.0 on " in shown.stdout, shown.stderr
    twice = told(slurm, "ranks", "1", "--job", f"slurm:{job}")
    assert twice.returncode == 2 and "two jobs are named" in twice.stderr


@pytest.mark.slow
def test_handles_of_all_nodes(slurm: Slurm, job: str) -> None:
    """As they are told of the same processes on one machine."""
    words = ("request", "--format", "json")
    over = told(slurm, "handles", "--job", f"slurm:{job}", *words)
    assert over.returncode == 0, over.stderr
    found = json.loads(over.stdout)
    named = [word for pid in pids_of(found) for word in ("--pid", str(pid))]
    here = json.loads(told(slurm, "handles", *named, *words).stdout)
    assert [one["handles"] for one in found["processes"]] == [one["handles"] for one in here["processes"]]
    assert len(found["processes"]) == demo.RANKS and all(one["handles"] for one in found["processes"])
    shown = told(slurm, "handles", "--job", f"slurm:{job}", "comm", "halo")
    assert shown.returncode == 0 and '"halo"' in shown.stdout, shown.stderr
    comms = told(slurm, "comms", "-v", "--job", f"slurm:{job}")
    assert comms.returncode == 0 and "MPI_COMM_WORLD" in comms.stdout, comms.stderr
    none = told(slurm, "handles", "--job", f"slurm:{job}", "comm", "nothing of that name")
    assert none.returncode == 1 and "nothing of that name" in none.stderr, none.stdout


def test_each_node_records_its_ranks(slurm: Slurm, job: str, tmp_path: Path) -> None:
    place = tmp_path / "hang"
    recorded = told(slurm, "record", "--job", f"slurm:{job}", "-o", str(place))
    assert recorded.returncode == 0, recorded.stderr
    files = sorted(place.iterdir())
    assert [file.name for file in files] == ["n1.mpirec", "n2.mpirec", "n3.mpirec"]
    assert place.stat().st_mode & 0o777 == 0o700
    assert all(str(file) in recorded.stdout for file in files)
    options = [word for file in files for word in ("--recording", str(file))]
    found = json.loads(told(slurm, "diagnose", *options, "--format", "json").stdout)
    assert [one["rank"] for one in found["processes"]] == list(range(demo.RANKS))
    assert found["diagnosis"][0]["kind"] == "tag mismatch" and found["diagnosis"][0]["ranks"] == [1, 2]
    # What is there and is no recording is left as it is.
    files[0].write_text("mine")
    again = told(slurm, "record", "--job", f"slurm:{job}", "-o", str(place))
    assert again.returncode == 1 and "node n1: " in again.stderr, again.stderr
    assert files[0].read_text() == "mine"
    full = told(slurm, "record", "--job", f"slurm:{job}", "-o", str(place), "--full")
    assert full.returncode == 2 and "leave out other targets and --full" in full.stderr


@pytest.mark.slow
def test_a_job_that_hangs_is_told_by_a_watch(slurm: Slurm, job: str, tmp_path: Path) -> None:
    watched = told(slurm, "watch", f"slurm:{job}", "--after", "3", "-o", str(tmp_path / "hang"))
    assert watched.returncode == 75, watched.stderr
    found = json.loads((tmp_path / "hang" / "diagnosis.json").read_text())
    assert [process["rank"] for process in found["processes"]] == list(range(demo.RANKS))
    assert found["verdict"]["state"] == "deadlock"
    assert {one["state"] for one in found["verdict"]["movement"]} == {"stuck"}
    files = sorted(file.name for file in (tmp_path / "hang").iterdir())
    assert files == ["diagnosis.html", "diagnosis.json", "diagnosis.txt", "n1.mpirec", "n2.mpirec", "n3.mpirec"]
    assert all(name in watched.stderr for name in files)
    assert not agents(slurm)
    for pid in pids_of(found):
        processes.assert_running(pid)


@pytest.mark.slow
def test_a_job_of_slurm_is_ended_by_its_watch(slurm: Slurm, program: Path, tmp_path: Path) -> None:
    number = slurm.run(program, demo.RANKS, JOB)
    watched = told(slurm, "watch", f"slurm:{number}", "--after", "1", "-o", str(tmp_path / "hang"), "--end")
    assert watched.returncode == 75, watched.stderr
    processes.wait_until(
        lambda: told(slurm, "ranks", f"slurm:{number}").returncode == 3, f"the end of job {number}", timeout=120
    )
    # A job that no longer exists is none to be watched.
    again = told(slurm, "watch", f"slurm:{number}", "--after", "1", "-o", str(tmp_path / "again"))
    assert again.returncode == 3 and not (tmp_path / "again").exists(), again.stderr


def test_python_reads_all_nodes(slurm: Slurm, job: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_CONF", slurm.environment["SLURM_CONF"])
    snapshot = mpi_queues.attach(job=f"slurm:{job}")
    assert [process.rank for process in snapshot.processes] == list(range(demo.RANKS))
    assert snapshot.diagnose().findings[0].ranks == [1, 2] and not agents(slurm)
    with pytest.raises(UserError, match="queues or handles, not both"):
        mpi_queues.attach(job=f"slurm:{job}", handles=["comm"])
    with pytest.raises(UsageError, match="not one of auto, srun"):
        mpi_queues.attach(job=f"slurm:{job}", engine="pdsh")
    with pytest.raises(UsageError, match="flux does not reach its nodes"):
        mpi_queues.attach(job=f"slurm:{job}", engine="flux")
    with pytest.raises(UsageError, match="not a job of Slurm"):
        mpi_queues.attach(job="slurm:")


@pytest.mark.parametrize("allocates", ["salloc", "sbatch"])
@pytest.mark.slow
def test_a_job_that_mpirun_has_started_in_an_allocation(slurm: Slurm, program: Path, allocates: str) -> None:
    """Open MPI has srun start its daemons, and these the ranks: Slurm does not know how many there are."""
    number = slurm.run_by_mpirun(program, demo.RANKS, JOB, allocates)
    try:
        told_of = told(slurm, "diagnose", "--job", f"slurm:{number}", "--format", "json")
        assert told_of.returncode == 0, told_of.stderr
        found = json.loads(told_of.stdout)
        assert [process["rank"] for process in found["processes"]] == list(range(demo.RANKS))
        assert found["verdict"]["state"] == "deadlock"
        named = [word for pid in pids_of(found) for word in ("--pid", str(pid))]
        assert reasons(json.loads(told(slurm, "diagnose", *named, "--format", "json").stdout)) == reasons(found)
    finally:
        subprocess.run(["scancel", number], env=slurm.environment, check=True)


@pytest.mark.slow
def test_an_agent_that_nodes_do_not_have_is_sent(
    slurm: Slurm, job: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SLURM_CONF", slurm.environment["SLURM_CONF"])
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with Gathering(engine_of(f"slurm:{job}"), "/nowhere/mpi-queues-agent", agent.path()) as asked:
        asked.ask(timeout=30)
        looks, silent = asked.gather(lambda *_: None)
    assert not silent and sorted(one.rank or 0 for look in looks for one in look.snapshot.processes) == [0, 1, 2]
    assert not list(tmp_path.iterdir()) and not agents(slurm)
    with Gathering(engine_of(f"slurm:{job}"), "/nowhere/mpi-queues-agent") as asked:
        asked.ask(timeout=30)
        looks, silent = asked.gather(lambda *_: None)
    assert not looks and set(silent.values()) == {"there is no /nowhere/mpi-queues-agent"}


#: Runs a command on a virtual node, as ssh would: it is on this machine, and called as Slurm does.
SSH = """\
#!/bin/sh
while [ $# -gt 2 ]; do shift; done
SLURMD_NODENAME=$1 exec sh -c "$2"
"""


@pytest.mark.slow
def test_nodes_of_slurm_are_reached_by_another_engine(slurm: Slurm, job: str, tmp_path: Path) -> None:
    (tmp_path / "ssh").write_text(SSH)
    (tmp_path / "ssh").chmod(0o755)
    (tmp_path / "clush.conf").write_text(f"[Main]\nssh_path: {tmp_path}/ssh\n")
    environment = {**slurm.environment, "CLUSTERSHELL_CFGDIR": str(tmp_path)}
    found = subprocess.run(
        command("diagnose", "--job", f"slurm:{job}", "--engine", "clush", "--format", "json"),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    content = json.loads(found.stdout)
    assert [one["rank"] for one in content["processes"]] == [0, 1, 2] and content["verdict"]["state"] == "deadlock"
    wrong = told(slurm, "show", "--job", f"slurm:{job}", "--engine", "flux")
    assert wrong.returncode == 2 and "flux does not reach its nodes" in wrong.stderr


def test_what_is_not_there_is_told(slurm: Slurm, job: str) -> None:
    for name, status, said in (
        ("slurm:4000000", 3, "slurm:4000000: "),
        ("slurm:x;reboot", 2, "not a job of Slurm"),
        (f"slurm:{job}.7", 3, "none of its 3 nodes runs a rank of the job"),
        ("hosts:--help", 2, "not a set of nodes"),
        ("flux:-f", 2, "not a job of flux"),
    ):
        found = told(slurm, "show", "--job", name)
        assert (found.returncode, found.stdout) == (status, ""), (name, found.stderr)
        assert said in found.stderr, found.stderr


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_whoever_is_interrupted_leaves_nothing_behind(slurm: Slurm, job: str, end: signal.Signals) -> None:
    running = subprocess.Popen(
        command("diagnose", "--job", f"slurm:{job}", "--twice", "60"),
        env=slurm.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    processes.wait_until(lambda: len(agents(slurm)) >= demo.RANKS, "the agents to begin")
    time.sleep(1)
    running.send_signal(end)
    running.communicate(timeout=60)
    # An agent that watches processes looks for the end of its input afterwards.
    processes.wait_until(lambda: not agents(slurm), "the agents to end", timeout=30)


@pytest.mark.slow
def test_a_node_that_cannot_be_reached_costs_its_own_rank(slurm: Slurm, job: str) -> None:
    slurm.kill_node("n2")
    try:
        found = told(slurm, "diagnose", "--job", f"slurm:{job}", "--timeout", "10", "--format", "json")
        assert found.returncode == 1 and "node n2: " in found.stderr, found.stderr
        content = json.loads(found.stdout)
        unread = [one for one in content["processes"] if one["mpi"] is None]
        assert len(content["processes"]) == demo.RANKS and len(unread) == 1
        assert "node n2" in unread[0]["problems"][0]
        # Whether it is a deadlock hangs on the rank that was not read.
        assert content["verdict"]["state"] != "deadlock"
        assert not any(one["certain"] and unread[0]["rank"] in one["ranks"] for one in content["diagnosis"])
    finally:
        slurm.start_node("n2")


@pytest.mark.slow
def test_ranks_on_a_node_that_is_drained_are_read(slurm: Slurm, job: str) -> None:
    slurm.state("n2", "drain")
    try:
        found = told(slurm, "diagnose", "--job", f"slurm:{job}", "--timeout", "20", "--format", "json")
        assert found.returncode == 0, found.stderr
        assert json.loads(found.stdout)["verdict"]["state"] == "deadlock"
    finally:
        slurm.state("n2", "resume")


@pytest.mark.slow
def test_an_agent_that_is_stopped_costs_its_own_rank(slurm: Slurm, job: str) -> None:
    running = subprocess.Popen(
        command("diagnose", "--job", f"slurm:{job}", "--twice", "3", "--timeout", "2", "--format", "json"),
        env=slurm.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with running:
        try:
            processes.wait_until(lambda: len(agents(slurm)) >= demo.RANKS, "the agents to begin")
            stopped = agents(slurm)[0]
            node = node_of(stopped)
            # It may have answered the first look; it does not the second.
            time.sleep(1)
            os.kill(stopped, signal.SIGSTOP)
            out, err = running.communicate(timeout=120)
        finally:
            running.kill()
    assert running.returncode == 1 and f"node {node}: its agent did not answer in time" in err, err
    found = json.loads(out)
    assert [process["rank"] for process in found["processes"]] == list(range(demo.RANKS))
    # What it told at the first look is not lost, and says nothing of movement.
    assert all(process["mpi"] is not None for process in found["processes"])
    assert [one["state"] for one in found["verdict"]["movement"]].count("stuck") == demo.RANKS - 1
    processes.wait_until(lambda: not agents(slurm), "the agents to end", timeout=30)


def node_of(pid: int) -> str:
    words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return next(word for word in words if word.startswith(b"SLURMD_NODENAME=")).split(b"=")[1].decode()


def test_a_node_on_which_the_agent_cannot_start_costs_no_time(slurm: Slurm, job: str, tmp_path: Path) -> None:
    """Slurm says at once that it has ended there."""
    program = tmp_path / "agent"
    program.write_text(f'#!/bin/sh\n[ "$SLURMD_NODENAME" != n2 ] || exit 127\nexec {agent.path()} "$@"\n')
    program.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURM_CONF", slurm.environment["SLURM_CONF"])
        with Gathering(engine_of(f"slurm:{job}"), str(program)) as asked:
            for _ in range(2):
                begun = time.monotonic()
                asked.ask(timeout=600)
                looks, silent = asked.gather(lambda *_: None)
                assert time.monotonic() - begun < 300, "it was waited for"
                assert list(silent) == ["n2"] and "Exited with exit code 127" in silent["n2"], silent
                assert {look.node for look in looks} == {"n1", "n3"}
