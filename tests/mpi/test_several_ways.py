"""One job whose messages go several ways: shared memory between two ranks, TCP from either to the third."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Callable, Set, Tuple

import pytest
from support import builds
from support.cli import show
from support.compare import assert_equal
from support.jobs import Job
from support.known import ALL_KNOWN, known_of

StartJob = Callable[..., Job]

#: What leaves rank 2 nothing but TCP, by build.
ONLY_TCP = {
    builds.DEBIAN: "OMPI_MCA_btl=tcp,self",
    builds.WHEEL: "OMPI_MCA_btl=tcp,self",
    f"{builds.DEBIAN}+ucx": "UCX_TLS=tcp,self",
    f"{builds.WHEEL}+ucx": "UCX_TLS=tcp,self",
    builds.DEBIAN_MPICH: "UCX_TLS=tcp,self",
}


def _connections(pid: int) -> Set[Tuple[str, str]]:
    """Both ends of the TCP connections that a process has, as the kernel writes them."""
    inodes = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        target = os.readlink(entry)
        if target.startswith("socket:["):
            inodes.add(target[len("socket:[") : -1])
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[9] in inodes:
                found.add((fields[1], fields[2]))
    return found


def _are_connected(one: int, other: int) -> bool:
    return bool(_connections(one) & {(there, here) for here, there in _connections(other)})


def _shared_memory(pid: int) -> Set[str]:
    """The inodes of what a process has mapped to write in it together with others."""
    lines = [line.split() for line in Path(f"/proc/{pid}/maps").read_text().splitlines()]
    return {fields[4] for fields in lines if fields[1] == "rw-s"}


@pytest.mark.parametrize("name", ONLY_TCP)
@pytest.mark.usual("mpich-debian")
def test_every_way_is_read(preflight: None, start_job: StartJob, name: str) -> None:
    build = builds.BUILDS[name]()
    job = start_job(build, "truth_ways", ONLY_TCP[name], ranks=3)
    known = ALL_KNOWN if name in (builds.DEBIAN, builds.WHEEL) else known_of(build.id)
    shown = show(job.pids)
    for rank, truth in job.truth.items():
        assert_equal(truth, shown[job.pids[rank]], known=known)
    first, second, third = job.pids
    assert _are_connected(first, third) and _are_connected(second, third)
    # These two may have connections as well: what ob1 sends in pieces goes over both at once.
    assert _shared_memory(first) & _shared_memory(second) - _shared_memory(third)
    job.assert_running()
