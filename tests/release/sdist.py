"""The source distribution, installed by pip in a fresh root with that release's own Rust."""

from __future__ import annotations

import pathlib
import time
from typing import List

from release.roots import Machine, make
from release.wheels import MPI_QUEUES, expect, parts

#: A Rust that is new enough is packaged there.
SUITES = ("bookworm",)
_PACKAGES = ["python3-venv", "gcc", "libc6-dev", "ca-certificates", "cargo-web", "rustc-web"]


def check(archive: pathlib.Path, suite: str, directory: pathlib.Path) -> List[str]:
    """Lines of what holds. Raises Failed where something does not."""
    root = make(suite, _PACKAGES, directory)
    with Machine(root, directory) as machine:
        machine.put(archive, f"/sdist/{archive.name}")
        rust = machine.run("rustc --version").strip()
        machine.run("python3 -m venv /opt/mpi-queues")
        begun = time.monotonic()
        machine.run(f"/opt/mpi-queues/bin/pip install /sdist/{archive.name}")
        took = time.monotonic() - begun
        said = parts(machine)
        shown = machine.run(f"{MPI_QUEUES} demo")
        expect(shown, r"^ *Deadlock: rank 2 sends tag 21", "demo")
        return [f"{rust}: pip install in {took:.0f} s", *said]
