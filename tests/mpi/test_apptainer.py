"""Jobs in containers of Apptainer, from the host and from inside. Debian 12 and 13 have none: that of sid is taken."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Callable, Dict, Iterator, List

import pytest
from support import builds, cli, installs, processes
from support.paths import MPI_QUEUES, PACKAGE, PROGRAMS, PROJECT
from support.starters import Place

pytestmark = pytest.mark.slow

#: Files of this machine that Apptainer hands on to its containers.
HANDED_ON = ("passwd", "group", "hosts", "resolv.conf", "nsswitch.conf", "localtime")

Run = Callable[[List[str]], "subprocess.Popen[str]"]


@pytest.fixture(scope="module")
def apptainer() -> List[str]:
    """What stands before a command that is to run in a container."""
    root = installs.unpacked("apptainer", "apptainer", "bash", "coreutils", suite="sid", alone=False)
    for name in HANDED_ON:
        if os.path.exists(f"/etc/{name}"):
            shutil.copy(f"/etc/{name}", root / "etc" / name)
    return ["unshare", "--mount", str(PROGRAMS / "apptainer.sh"), str(root)]


@pytest.fixture
def heat(debian_mpi: builds.MpiBuild, tmp_path: Path) -> str:
    source = PROJECT / "docs" / "examples" / "heat.c"
    subprocess.run([str(debian_mpi.mpicc), "-g", "-O1", "-o", str(tmp_path / "heat"), str(source)], check=True)
    return str(tmp_path / "heat")


@pytest.fixture
def run(environment: Dict[str, str], place: Place) -> Iterator[Run]:
    """Starts a command; all of it ends with the test."""
    started: List[subprocess.Popen[str]] = []
    # Which the containers share with this machine.
    made = {**environment, "TMPDIR": "/dev/shm", "OMPI_MCA_btl_vader_backing_directory": "/dev/shm"}

    def start(command: List[str]) -> subprocess.Popen[str]:
        started.append(subprocess.Popen(command, env=made, stdout=subprocess.PIPE, text=True, cwd="/"))
        return started[-1]

    yield start
    place.end()
    for one in started:
        one.kill()
        one.communicate()


@pytest.fixture
def shared() -> Iterator[Path]:
    """A directory that a container may write to: its image is read-only, and the devices are this machine's."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        yield Path(directory)


def user_namespaces(pids: List[int]) -> int:
    return len({os.readlink(f"/proc/{pid}/ns/user") for pid in [os.getpid(), *pids]})


def test_from_the_host(apptainer: List[str], debian_mpi: builds.MpiBuild, heat: str, run: Run) -> None:
    """Each rank in a container of its own, as their manual has it: mpirun apptainer exec ..."""
    job = run([str(debian_mpi.mpirun), "-n", "2", *apptainer, heat, "100000"])
    said = ""

    def is_told() -> bool:
        nonlocal said
        said = cli.mpi_queues("diagnose", str(job.pid)).out
        return "Deadlock: ranks 0 and 1 wait for one another" in said

    processes.wait_until(is_told, "the deadlock")
    assert "heat.c:8" in said
    ranks = [one.pid for one in processes.descendants(job.pid) if os.readlink(f"/proc/{one.pid}/exe").endswith("heat")]
    # Ours, and one for each of both.
    assert len(ranks) == 2 and user_namespaces(ranks) == 3


@pytest.mark.parametrize("options", [[], ["--pid"]], ids=["", "pid"])
def test_from_inside(
    options: List[str], apptainer: List[str], debian_mpi: builds.MpiBuild, heat: str, run: Run, shared: Path
) -> None:
    """The command line and the agent, in the container of the whole job."""
    script = f"""
{debian_mpi.mpirun} -n 2 {heat} 100000 &
for _ in $(seq 30); do
    {MPI_QUEUES} diagnose $! 2>&1 | tee {shared}/said | grep -q Deadlock && break
    sleep 1
done
cat {shared}/said
{PACKAGE}/bin/mpi-queues-agent record $(pgrep -x heat -P $! | sed s/^/--pid=/) >{shared}/hang.mpirec
kill $!
wait
"""
    said, _ = run([*with_options(apptainer, options), "bash", "-c", script]).communicate(timeout=120)
    assert "Deadlock: ranks 0 and 1 wait for one another" in said and "heat.c:8" in said, said
    outside = cli.mpi_queues("diagnose", "--recording", str(shared / "hang.mpirec"))
    assert "Deadlock: ranks 0 and 1 wait for one another" in outside.out, str(outside)


def with_options(apptainer: List[str], options: List[str]) -> List[str]:
    return ["env", f"APPTAINER_OPTIONS={' '.join(options)}", *apptainer]
