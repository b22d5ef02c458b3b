"""Our library for other debuggers, in a host in C that has no cache, against the built-in reader."""

from __future__ import annotations

import os
import re
import signal
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import List

from inside import Row, in_gdb, many
from support import builds
from support.mqs_hosts import LIBRARY, strict_host, symbols

_RUNS = 9


def figure_mqs_library(build: builds.MpiBuild) -> List[Row]:
    """The host has loaded the library when the clock starts: all else, from the first look at the process, counts."""
    with many(build, 100_000) as job, tempfile.TemporaryDirectory() as place:
        reader = in_gdb(job, "reader", runs=_RUNS)["reader_first"]
        pid = job.pids[0]
        command = [str(strict_host()), str(LIBRARY), str(pid), str(symbols(pid, Path(place) / "symbols")), "brief"]
        os.kill(pid, signal.SIGSTOP)
        try:
            runs = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(_RUNS)]
        finally:
            os.kill(pid, signal.SIGCONT)
    counts = [sum(map(int, re.findall(r"^queue class=1 count=(\d+)", said, re.MULTILINE))) for said in runs]
    assert set(counts) == {100_000}, counts
    library = statistics.median(float(said.split()[-2]) for said in runs)
    return [
        (
            "100,000 receives: libmpi_queues_mqs.so in a plain host in C / reader in gdb, both the first time",
            f"{library / reader:.1f}  ({1000 * library:.0f} ms and {1000 * reader:.0f} ms)",
            "at most 3",
            library <= 3 * reader,
        )
    ]
