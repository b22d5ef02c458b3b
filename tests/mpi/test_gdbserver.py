"""A rank behind gdbserver, read by gdb's command as any other."""

from __future__ import annotations

import json
import subprocess
from typing import Any, Callable, Dict

import pytest
from support import processes
from support.builds import MpiBuild
from support.compare import assert_equal
from support.jobs import Job
from support.paths import PROJECT

StartJob = Callable[..., Job]


def _read_through_gdbserver(pid: int) -> Dict[str, Any]:
    """gdb starts the gdbserver itself and talks to it through a pipe: no port is needed, and it ends with gdb."""
    loader = PROJECT / "gdb-scripts" / "mpi_queues.py"
    command = ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set auto-load off"]
    command += ["-x", str(loader), "-ex", f"target remote | gdbserver --attach stdio {pid}"]
    command += ["-ex", 'printf "\\n<json>\\n"', "-ex", "mpi queues -format json", "-ex", 'printf "\\n</json>\\n"']
    command += ["-ex", "detach"]
    run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180, check=False)
    assert "<json>" in run.stdout, run
    text = run.stdout.split("<json>")[1].split("</json>")[0]
    snapshot: Dict[str, Any] = json.loads(text)
    return snapshot


@pytest.mark.parametrize("program", ["truth_modes", "truth_threads"])
def test_equals_the_truth_through_gdbserver(mpi_build: MpiBuild, start_job: StartJob, program: str) -> None:
    job = start_job(mpi_build, program, ranks=2)
    for rank, pid in enumerate(job.pids):
        snapshot = _read_through_gdbserver(pid)
        assert_equal(job.truth[rank], snapshot["processes"][0])
        assert snapshot["processes"][0]["source"]["via"] == "gdb"
        processes.wait_until(lambda pid=pid: processes.tracer(pid) == 0, "gdbserver to let go")
    job.assert_running()
