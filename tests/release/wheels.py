"""A wheel in fresh roots: installed by pip, it must say what is in it, and explain a job of that root's own MPI."""

from __future__ import annotations

import pathlib
import re
import shutil
import time
import zipfile
from typing import Iterator, List

from release.contents import check_contents
from release.elf import check_needs
from release.roots import Failed, Machine, make

PROJECT = pathlib.Path(__file__).resolve().parents[2]

#: The Debian releases that it must run on, of what there is to be fetched.
SUITES = ("bullseye", "bookworm", "trixie")
_PACKAGES = ["python3-venv", "openmpi-bin", "libopenmpi-dev", "gcc", "libc6-dev", "gdb", "man-db", "ca-certificates"]

MPI_QUEUES = "/opt/mpi-queues/bin/mpi-queues"
#: What is said of docs/examples/heat.c, which hangs at once.
DIAGNOSED = (
    r"^Deadlock: ranks 0 and 1 wait for one another in MPI_Send\.\n\n"
    r"  ranks 0 and 1  MPI_Send  exchange at heat\.c:\d+"
)


def check(wheel: pathlib.Path, suite: str, directory: pathlib.Path) -> Iterator[str]:
    """Lines of what holds. Raises Failed where something does not."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(directory / "package")
    yield from check_needs(directory / "package", "X86-64")
    yield from check_contents(directory / "package")
    shutil.rmtree(directory / "package")
    root = make(suite, _PACKAGES, directory)
    with Machine(root, directory) as machine:
        machine.put(wheel, f"/wheels/{wheel.name}")
        machine.put(PROJECT / "docs" / "examples" / "heat.c", "/job/heat.c")
        begun = time.monotonic()
        machine.run("python3 -m venv /opt/mpi-queues")
        machine.run(f"/opt/mpi-queues/bin/pip install --no-index /wheels/{wheel.name}")
        yield f"an environment and pip install: {time.monotonic() - begun:.0f} s"
        for part in (parts, _manual, _diagnoses, _recorder, _inside_gdb):
            yield from part(machine)


def expect(said: str, pattern: str, what: str) -> str:
    """What the pattern finds in it. Raises Failed where it finds nothing."""
    found = re.search(pattern, said, re.MULTILINE)
    if found is None:
        raise Failed(f"{what}: this is not in it: {pattern}\n{said[-4000:]}")
    return found[0]


def parts(machine: Machine) -> List[str]:
    """What it says that it is made of, and where it runs."""
    libc = machine.run("ldd --version 2>&1 | sed -n 1p; /opt/mpi-queues/bin/python --version").split("\n")
    said = machine.run(f"{MPI_QUEUES} --version")
    version = expect(said, r"^mpi-queues (\d\S*)$", "--version").split()[1]
    for part in (f"core: {version}, JSON ", r"layouts: \d+ profiles: ", f"agent: {version}, ", "recorder: /opt/"):
        expect(said, f"^{part}", "--version")
    # The library for other debuggers has no line there.
    machine.run(f'test -f "$({MPI_QUEUES} init padb | cut -d = -f 2)"')
    return [f"{libc[0]}, {libc[1]}", *said.splitlines()]


def _diagnoses(machine: Machine) -> List[str]:
    """A deadlock of the root's Open MPI, told from processes and from a recording; the demo."""
    machine.run("mpicc -g -O1 -o heat heat.c", directory="/job")
    said = machine.run(
        "(mpirun --oversubscribe -n 2 ./heat 100000 >job.log 2>&1 & echo $! >pid); i=0; "
        f"until {MPI_QUEUES} diagnose --job $(cat pid) >said.txt 2>&1 && grep -q ^Deadlock said.txt || [ $i = 60 ]; "
        f"do i=$((i+1)); sleep 0.5; done; cat said.txt job.log; {MPI_QUEUES} record --job $(cat pid) -o hang.mpirec; "
        "kill $(cat pid)",
        directory="/job",
        seconds=300,
    )
    told = [expect(said, DIAGNOSED, "diagnose --job")]
    again = machine.run(f"{MPI_QUEUES} diagnose --recording hang.mpirec", directory="/job")
    expect(again, DIAGNOSED, "diagnose --recording")
    demo = machine.run(f"{MPI_QUEUES} demo", directory="/job", seconds=300)
    told.append("demo: " + expect(demo, r"^ *Deadlock: rank 2 sends tag 21", "demo").strip())
    return told


def _recorder(machine: Machine) -> List[str]:
    """The flight recorder is loaded into ranks, and tells what they did."""
    watched(machine, "mpirun --oversubscribe")
    said = machine.run(f"{MPI_QUEUES} show --recording kept/job.mpirec --source recorder", directory="/job")
    return [
        expect(said, r"latest calls, by the flight recorder: MPI_Init at heat\.c:\d+, MPI_Send.*$", "--source recorder")
    ]


def watched(machine: Machine, mpirun: str) -> str:
    """What a watch with the flight recorder says of a deadlock, before it ends the job."""
    status, said = machine.try_to(
        f"{MPI_QUEUES} run --recorder --watch --after 2s -o kept --end -- {mpirun} -n 2 ./heat 100000",
        directory="/job",
        seconds=300,
    )
    if status != 75:
        raise Failed(f"run --recorder --watch --end: status {status}\n{said[-4000:]}")
    return expect(machine.run("cat kept/diagnosis.txt", directory="/job"), DIAGNOSED, "kept/diagnosis.txt")


def _inside_gdb(machine: Machine) -> List[str]:
    """The package runs in the Python of the root's gdb, which is not that of the environment."""
    said = machine.run(
        f"{MPI_QUEUES} init gdb >line && gdb -batch -nx -iex 'set auto-load off' -x line -ex 'help mpi' 2>&1",
        directory="/job",
    )
    return ["gdb: " + expect(said, r"^mpi diagnose .*$", "help mpi in gdb")]


def _manual(machine: Machine) -> List[str]:
    said = machine.run("PATH=/opt/mpi-queues/bin:$PATH man -w mpi-queues-diagnose")
    return ["man: " + expect(said, r"^/opt/mpi-queues/share/man/man1/\S+$", "man -w")]
