"""The source distribution, installed by pip in a fresh root with that release's own Rust."""

from __future__ import annotations

import pathlib
import time
from typing import List

from release.roots import Machine, make
from release.wheels import expect

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
        said = machine.run("/opt/mpi-queues/bin/mpi-queues --version")
        expect(said, r"^core: ", "--version")
        # What is built apart: the answer says how.
        expect(said, r"^agent: none; .*make agent", "--version")
        shown = machine.run("/opt/mpi-queues/bin/mpi-queues demo")
        expect(shown, r"^ *Deadlock: rank 2 sends tag 21", "demo")
        return [f"{rust}: pip install in {took:.0f} s", *said.splitlines()]
