"""A wheel where the C library is older than that of any Debian release that can be fetched: Ubuntu 16.04, glibc 2.23.

Its Python is older than ours must be, so the oldest CPython that serves is compiled there, without libffi and so
without ctypes. Its Open MPI (1.10) has queues that nobody reads: what is told of its jobs comes from stacks and from
the flight recorder.
"""

from __future__ import annotations

import hashlib
import pathlib
import time
from typing import Iterator, List

from release.roots import Failed, Machine, make
from release.wheels import MPI_QUEUES, PROJECT, expect, parts, watched

SUITE = "xenial"

_PACKAGES = ["openmpi-bin", "libopenmpi-dev", "gcc", "libc6-dev", "make", "xz-utils", "zlib1g-dev"]
#: What its packages are signed with is a package of its own, taken for this content alone (sha256).
_KEYS = "ubuntu-keyring"
_KEYRING = pathlib.PurePath("usr/share/keyrings/ubuntu-archive-keyring.gpg")
_KEYRING_SUM = "2177806014d4803fd32849ee7c93935c9b27b2053d0459adb981e8441beb8088"
_UNSIGNED = ['--aptopt=Acquire::AllowInsecureRepositories "true"', '--aptopt=APT::Get::AllowUnauthenticated "true"']
#: Its essential packages add users before what lets them is configured.
_LOGIN = (
    'mkdir -p "$1/etc/pam.d"; for kind in auth account session password; do '
    'echo "$kind required pam_permit.so" >"$1/etc/pam.d/common-$kind"; done'
)
_MPIRUN = "mpirun --allow-run-as-root"
#: A recording that the package has.
_DEMO = "$(/opt/mpi-queues/bin/python -c 'import mpi_queues; print(mpi_queues.__path__[0])')/data/demo.mpirec"
#: The Debian release with the oldest Python that ours may be, and its source.
_OLDEST, _PYTHON = "bullseye", "python3.9"


def check(wheel: pathlib.Path, directory: pathlib.Path) -> Iterator[str]:
    """Lines of what holds. Raises Failed where something does not."""
    (directory / "keys").mkdir(parents=True)
    keys = make(SUITE, [_KEYS], directory / "keys", "--variant=extract", *_UNSIGNED) / _KEYRING
    if hashlib.sha256(keys.read_bytes()).hexdigest() != _KEYRING_SUM:
        raise Failed(f"{_KEYS} of {SUITE} has other keys than it had")
    options = [f"--keyring={keys}", "--components=main,universe", f"--setup-hook={_LOGIN}"]
    root = make(SUITE, _PACKAGES, directory, *options)
    with Machine(root, directory) as machine:
        begun = time.monotonic()
        machine.put(_source_of_python(directory), "/src/python.tar.xz")
        machine.run(
            "tar -xf python.tar.xz --strip-components=1 && ./configure --quiet --prefix=/opt/python && "
            "make -s -j$(nproc) && make -s install",
            directory="/src",
        )
        yield f"{_PYTHON} compiled: {time.monotonic() - begun:.0f} s"
        machine.put(wheel, f"/wheels/{wheel.name}")
        machine.put(PROJECT / "docs" / "examples" / "heat.c", "/job/heat.c")
        machine.run("/opt/python/bin/python3 -m venv /opt/mpi-queues")
        machine.run(f"/opt/mpi-queues/bin/pip install --no-index /wheels/{wheel.name}")
        for part in (parts, _stands, _records):
            yield from part(machine)


def _source_of_python(directory: pathlib.Path) -> pathlib.Path:
    with Machine(make(_OLDEST, ["apt"], directory), directory) as machine:
        machine.run(
            "sed -i 's/^deb /deb-src /' /etc/apt/sources.list && apt-get update && "
            f"apt-get source --download-only --tar-only {_PYTHON}",
            directory="/srv",
        )
        machine.keep("/srv", directory)
    return next((directory / "srv").glob(f"{_PYTHON}_*.orig.tar.xz"))


def _stands(machine: Machine) -> List[str]:
    """Where the ranks of a job stand, read from its processes; why a recorded one is stuck."""
    machine.run("mpicc -g -O1 -o heat heat.c", directory="/job")
    said = machine.run(
        f"({_MPIRUN} -n 2 ./heat 100000 >job.log 2>&1 & echo $! >pid); i=0; "
        f"until {MPI_QUEUES} stacks --job $(cat pid) >said.txt 2>&1 && grep -q MPI_Send said.txt || [ $i = 60 ]; "
        "do i=$((i+1)); sleep 0.5; done; kill $(cat pid); cat said.txt job.log",
        directory="/job",
        seconds=300,
    )
    expect(said, r"exchange at heat\.c:\d+\n +MPI_Send", "stacks --job")
    recorded = machine.run(f"{MPI_QUEUES} diagnose --recording {_DEMO}")
    return [expect(recorded, r"^Deadlock: rank 2 sends tag 21", "diagnose --recording")]


def _records(machine: Machine) -> List[str]:
    """The flight recorder tells why a job is stuck whose queues nobody reads."""
    return [f"run --recorder --watch: {watched(machine, _MPIRUN)}"]
