"""Reports of large jobs, made up from a real one of 8 ranks: how large they are, how long they take to make, and how
soon a browser lets one press something."""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path
from typing import List, Tuple

from mpi_queues import Diagnosis, Snapshot, load
from mpi_queues._native import Digests
from of_nodes import _RANKS, _ROOT, snapshot_of
from page.browser import chromium
from support.builds import MpiBuild

#: Nodes of 128 ranks; MiB of the file, seconds to make it, seconds until it is interactive.
_SIZES = ((8, 1.0, 10.0, 1.0), (1000, 5.0, 10.0, 5.0))


def made_up(snapshot: str, nodes: int, directory: Path) -> Snapshot:
    """A job of so many nodes."""
    cargo = subprocess.run([str(_ROOT / "tools/find-cargo")], capture_output=True, text=True, check=True).stdout.strip()
    command = [cargo, "run", "--quiet", "--release", "--package", "mpi-queues-model", "--example", "digests", "--"]
    subprocess.run(
        [*command, str(nodes), str(_RANKS), str(directory)], cwd=_ROOT, input=snapshot, text=True, check=True
    )
    digests = Digests()
    parts = []
    for node in range(nodes):
        parts.append(digests.read(f"node{node}", (directory / f"{node}.1").read_bytes()))
        for look in (1, 2):
            (directory / f"{node}.{look}").unlink()
    return Snapshot.merged(parts)


def interactive(path: Path) -> float:
    """Seconds from the opening of a page in a browser until its script has run and it hears what is pressed."""
    with chromium() as page:
        page.open(path)
        page.press(".graph .node")
        # By the page's own clock: the driver's ways are not the page's.
        since: float = page.run("return document.getElementById('details').textContent ? performance.now() : NaN")
        return since / 1000


def make(diagnosis: Diagnosis, path: Path) -> Tuple[float, float]:
    """Makes the report; seconds by the clock and by the processor."""
    begun, busy = time.perf_counter(), time.process_time()
    diagnosis.report(path, source=False)
    return time.perf_counter() - begun, time.process_time() - busy


def read_again(path: Path) -> float:
    """Seconds of the processor to read it as a target."""
    busy = time.process_time()
    load(path)
    return time.process_time() - busy


def figure_page(build: MpiBuild) -> List[Tuple[str, str, str, bool]]:
    snapshot = snapshot_of(build, "halo")
    rows = []
    for nodes, most, making, opening in _SIZES:
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "hang.html"
            diagnosis = made_up(snapshot, nodes, Path(name)).diagnose()
            # The best: others may use the machine.
            seconds, busy = min(make(diagnosis, path) for _ in range(2))
            size = path.stat().st_size / (1 << 20)
            opened = min(interactive(path) for _ in range(3))
            again = read_again(path)
        rows.append(
            (
                f"report of {nodes * _RANKS:,} ranks",
                f"{size:.2f} MiB, made in {seconds:.1f} s ({busy:.1f} s busy), interactive in {opened:.2f} s, "
                f"read again in {again:.1f} s busy",
                f"at most {most:.0f} MiB, {making:.0f} s, {opening:.0f} s",
                size <= most and seconds <= making and opened <= opening,
            )
        )
    return rows
