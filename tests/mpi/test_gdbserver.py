"""A rank behind gdbserver, read by gdb's command as any other."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from typing import Any, Callable, Dict

import pytest
from support import processes
from support.builds import MpiBuild
from support.compare import assert_equal
from support.jobs import Job
from support.paths import PROJECT

StartJob = Callable[..., Job]


def _read_through_gdbserver(pid: int, sysroot: str) -> Dict[str, Any]:
    """gdb starts the gdbserver itself and talks to it through a pipe: no port is needed, and it ends with gdb."""
    loader = PROJECT / "gdb-scripts" / "mpi_queues.py"
    command = ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set auto-load off"]
    command += [
        "-iex",
        f"set sysroot {sysroot}",
        "-x",
        str(loader),
        "-ex",
        f"target remote | gdbserver --attach stdio {pid}",
    ]
    command += ["-ex", 'printf "\\n<json>\\n"', "-ex", "mpi queues -format json", "-ex", 'printf "\\n</json>\\n"']
    command += ["-ex", "detach"]
    gdb = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # On a busy machine each read waits for the server, and all of them for longer than damaged memory may take.
        env={**os.environ, "MPI_QUEUES_LIMITS": "10"},
    )
    try:
        out, err = gdb.communicate(timeout=600)
    finally:
        # The server has a session of its own, and goes on for ever without gdb.
        for server in processes.descendants(gdb.pid) if gdb.poll() is None else []:
            os.kill(server.pid, signal.SIGKILL)
        gdb.kill()
        gdb.wait()
    assert "<json>" in out, (out, err)
    text = out.split("<json>")[1].split("</json>")[0]
    snapshot: Dict[str, Any] = json.loads(text)
    return snapshot


#: With gdb's own setting every file comes through gdbserver, which takes many seconds.
@pytest.mark.parametrize(("program", "sysroot"), [("truth_modes", "target:"), ("truth_threads", "/")])
@pytest.mark.slow
def test_equals_the_truth_through_gdbserver(
    mpi_build: MpiBuild, start_job: StartJob, program: str, sysroot: str
) -> None:
    job = start_job(mpi_build, program, ranks=2)
    for rank, pid in enumerate(job.pids):
        snapshot = _read_through_gdbserver(pid, sysroot)
        assert_equal(job.truth[rank], snapshot["processes"][0])
        assert snapshot["processes"][0]["source"]["via"] == "gdb"
        processes.wait_until(lambda pid=pid: processes.tracer(pid) == 0, "gdbserver to let go")
    job.assert_running()
