"""How long the start of pytest takes because the plug-in is installed."""

from __future__ import annotations

import subprocess
import sys
from typing import List, Tuple

from support.builds import MpiBuild

_CODE = (
    "import pytest, time; started = time.perf_counter(); import mpi_queues.pytest_plugin; "
    "print(time.perf_counter() - started)"
)


def figure_start(_: MpiBuild) -> List[Tuple[str, str, str, bool]]:
    """The plug-in is loaded beside pytest in a Python of its own, several times: the fastest counts."""
    command = [sys.executable, "-c", _CODE]
    seconds = [float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(9)]
    return [
        (
            "pytest's start with the plug-in, fastest of 9",
            f"{1000 * min(seconds):.1f} ms ({1000 * sorted(seconds)[4]:.1f} ms in the middle)",
            "under 20 ms",
            min(seconds) < 0.02,
        )
    ]
