"""``mpi-queues run --watch -- srun …``, also in a batch job that comes to its time limit."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from pathlib import Path
from typing import Any, Dict, Iterator, List

import pytest
from mpi_queues.cli import demo
from support import builds, processes, recorder
from support.builds import MpiBuild
from support.paths import MPI_QUEUES, PROGRAMS, SPINNING
from support.slurm import Slurm
from support.transports import JOB

#: Only keeps what hangs from hanging the tests: each look has srun start agents on the nodes.
GUARD = 600.0

#: Ranks of the demo, one on each node.
RANKS = demo.RANKS


@pytest.fixture(scope="module")
def slurm() -> Iterator[Slurm]:
    with Slurm(RANKS) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def free(slurm: Slurm) -> Iterator[None]:
    """Nothing of a test is left in the cluster."""
    yield
    subprocess.run(["scancel", f"--user={os.getuid()}"], env=slurm.environment, check=False)
    processes.wait_until(lambda: slurm.idle() == RANKS, "the nodes to be free", timeout=60)


def watched(directory: Path, *options: str) -> List[str]:
    """The command up to the launcher."""
    return [str(MPI_QUEUES), "run", "--recorder", "--watch", "-o", str(directory), *options, "--"]


def srun(ranks: int, program: Path, *arguments: str) -> List[str]:
    return ["srun", "--mpi=pmix", f"--nodes={ranks}", f"--ntasks={ranks}", str(SPINNING), str(program), *arguments]


def told(directory: Path) -> Dict[str, Any]:
    found: Dict[str, Any] = json.loads((directory / "diagnosis.json").read_text())
    return found


def recorded(directory: Path) -> List[Dict[str, Any]]:
    """The processes of the recordings of all nodes."""
    files = [str(path) for path in sorted(directory.rglob("*.mpirec"))]
    shown = subprocess.run(
        [str(MPI_QUEUES), "show", "--format", "json", *(word for file in files for word in ("--recording", file))],
        capture_output=True,
        text=True,
        check=True,
    )
    found: List[Dict[str, Any]] = json.loads(shown.stdout)["processes"]
    return found


@pytest.mark.slow
def test_a_job_of_srun_that_hangs_is_told_and_ended(slurm: Slurm, program: Path, tmp_path: Path) -> None:
    recorder.library()
    run = subprocess.run(
        [*watched(tmp_path / "hang", "--after", "3", "--end"), *srun(RANKS, program)],
        env={**slurm.environment, **JOB},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=GUARD,
        check=False,
    )
    assert run.returncode == 75, run.stderr
    found = told(tmp_path / "hang")
    assert [process["rank"] for process in found["processes"]] == list(range(RANKS))
    assert found["verdict"]["state"] == "deadlock"
    # The recorder was there on each node: srun has handed it on.
    assert {process["history"] is not None for process in recorded(tmp_path / "hang")} == {True}


@pytest.mark.slow
def test_a_job_of_srun_that_ends_has_its_own_status(slurm: Slurm, debian_mpi: MpiBuild, tmp_path: Path) -> None:
    recorder.library()
    program = builds.compile_with([str(debian_mpi.mpicc)], debian_mpi.id, [PROGRAMS / "watched" / "status.c"], [])
    for options in (["--after", "60"], ["--after", "1"]):
        run = subprocess.run(
            [*watched(tmp_path / "hang", *options), *srun(2, program, "status", "3")],
            env={**slurm.environment, **JOB},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=GUARD,
            check=False,
        )
        assert (run.returncode, os.listdir(tmp_path / "hang")) == (3, []), run.stderr
        assert run.stdout.count("ready") == 2


#: As docs/watch.md has it.
SCRIPT = """\
{command} &
trap 'kill -{name} $!' {name}
while wait $!; status=$?; kill -0 $! 2>/dev/null; do :; done
exit $status
"""


def batch(slurm: Slurm, program: Path, directory: Path, number: signal.Signals, *options: str) -> str:
    command = shlex.join([*watched(directory / "hang", "--after", "1h"), *srun(RANKS, program)])
    lines = SCRIPT.format(command=command, name=number.name[3:])
    return slurm.run_script(lines, RANKS, JOB, directory / "printed", options)


def await_files(slurm: Slurm, directory: Path, number: signal.Signals) -> None:
    """What is written stands in what the job prints when it is there."""
    place, printed = directory / "hang", directory / "printed"
    processes.wait_until(
        lambda: "written to" in printed.read_text() or slurm.idle() == RANKS, "what is known or the end", timeout=GUARD
    )
    assert "written to" in printed.read_text()
    assert f"because of {number.name}" in (place / "diagnosis.txt").read_text()
    found = told(place)
    assert [process["rank"] for process in found["processes"]] == list(range(RANKS))
    recordings = list(place.glob("*.mpirec"))
    # Slurm would not wait: on a busy machine nodes that do not answer at once are told of.
    if any(process["mpi"] is None for process in found["processes"]) or len(recordings) < RANKS:
        assert "node n" in printed.read_text() + (place / "diagnosis.txt").read_text()
        return
    assert found["verdict"]["state"] == "deadlock"
    assert {process["history"] is not None for process in recorded(place)} == {True}


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGTERM], ids=lambda number: number.name)
@pytest.mark.usual("SIGTERM")
def test_a_signal_to_the_script_of_a_batch_job_has_it_written(
    slurm: Slurm, program: Path, number: signal.Signals, tmp_path: Path
) -> None:
    recorder.library()
    job = batch(slurm, program, tmp_path, number)
    subprocess.run(["scancel", "--batch", f"--signal={number.name[3:]}", job], env=slurm.environment, check=True)
    await_files(slurm, tmp_path, number)


@pytest.mark.slow
def test_what_is_known_is_written_before_the_time_limit(slurm: Slurm, program: Path, tmp_path: Path) -> None:
    """Slurm may send the signal up to a minute earlier than it is asked to (sbatch(1), --signal)."""
    recorder.library()
    job = batch(slurm, program, tmp_path, signal.SIGUSR1, "--time=2", "--signal=B:USR1@30")
    await_files(slurm, tmp_path, signal.SIGUSR1)

    def state() -> str:
        return subprocess.run(
            ["scontrol", "show", "job", job], env=slurm.environment, capture_output=True, text=True, check=False
        ).stdout

    processes.wait_until(lambda: "JobState=RUNNING" not in state(), "the end of the job", timeout=240)
