"""Figures of the diagnosis of large jobs: ``diagnosis.rs`` makes up their snapshots and diagnoses them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Tuple

from support.builds import MpiBuild

ROOT = Path(__file__).resolve().parents[2]
SCENES = ("ring", "any", "barrier", "mixed")
GROWTH = tuple(1024 * 2**step for step in range(7))


def diagnosed(cargo: str, scene: str, ranks: int, operations: int) -> Dict[str, Any]:
    """One diagnosis in a process of its own: seconds, and the megabytes of its peak."""
    command = [cargo, "bench", "--quiet", "--bench", "diagnosis", "--", scene, str(ranks), str(operations)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if told.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{told.stderr}")
    found: Dict[str, Any] = json.loads(told.stdout.strip().splitlines()[-1])
    return found


def figure_diagnosis(_: MpiBuild) -> List[Tuple[str, str, str, bool]]:
    cargo = subprocess.run([str(ROOT / "tools/find-cargo")], capture_output=True, text=True, check=True).stdout.strip()
    rows = []
    for ranks, operations, seconds, megabytes in ((1024, 100, 1.0, 1024), (65_536, 4, 30.0, None)):
        for scene in SCENES:
            found = diagnosed(cargo, scene, ranks, operations)
            holds = found["seconds"] < seconds and (megabytes is None or found["megabytes"] < megabytes)
            rows.append(
                (
                    f"diagnosis of {ranks:,} ranks with {operations} operations each, {scene}",
                    f"{found['seconds']:.3f} s, {found['megabytes']:.0f} MB at most, "
                    f"{found['snapshot_megabytes']:.0f} MB before it; {found['findings']} findings, {found['state']}",
                    f"under {seconds:.0f} s" + ("" if megabytes is None else f" and {megabytes} MB"),
                    holds,
                )
            )
    times = [diagnosed(cargo, "mixed", ranks, 4)["seconds"] for ranks in GROWTH]
    table = ", ".join(f"{ranks // 1024}k: {1000 * taken:.0f} ms" for ranks, taken in zip(GROWTH, times))
    growth = times[-1] / times[0] / (GROWTH[-1] / GROWTH[0])
    rows.append(
        (
            f"growth from {GROWTH[0]:,} to {GROWTH[-1]:,} ranks: time a rank at the end / at the beginning",
            f"{growth:.2f}  ({table})",
            "near linear: at most 3",
            growth <= 3,
        )
    )
    return rows
