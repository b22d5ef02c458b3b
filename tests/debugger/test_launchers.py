"""What a launcher says by the MPIR interface, read through the debugger that has stopped it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Dict

import pytest
from debuggers import Gdb, Lldb
from mpi_queues import _native
from support import builds, processes
from support.jobs import Job

#: How each debugger runs Python, and its process for the core.
FACES = {
    "gdb": ("python", "from mpi_queues.gdb.adapter import GdbProcess as P", "P(gdb.selected_inferior())"),
    "lldb": (
        "script",
        "from mpi_queues.lldb.adapter import LldbProcess as P",
        "P(lldb.debugger.GetSelectedTarget().GetProcess())",
    ),
}
BUILDS = (builds.OPENMPI_4, "mpich-ch3-4.0.2", builds.DEBIAN_MPICH)


def read_through(debugger: Gdb, launcher: int, candidates: Dict[int, int], answer: Path) -> Any:
    word, load, process = FACES[debugger.name]
    ask = f"table = _native.process_table({process}, {candidates}); open({str(answer)!r}, 'w').write(json.dumps(table))"
    debugger.run(*debugger.attach(launcher), f"{word} import json; from mpi_queues import _native; {load}; {ask}")
    return json.loads(answer.read_text())


@pytest.mark.parametrize("debugger", [Gdb(), Lldb()], ids=lambda debugger: debugger.name)
@pytest.mark.parametrize("name", BUILDS)
@pytest.mark.slow
def test_a_debugger_reads_the_same_as_proc(
    debugger: Gdb, name: str, preflight: None, start_job: Callable[..., Job], tmp_path: Path
) -> None:
    try:
        build = builds.BUILDS[name]()
    except builds.Missing as missing:
        pytest.fail(str(missing))
    job = start_job(build, "truth_probe", ranks=2)
    candidates = {pid: rank for rank, pid in enumerate(job.pids)}
    through = read_through(debugger, job.launcher_pid, candidates, tmp_path / "table.json")
    assert [entry["pid"] for entry in through["entries"]] == job.pids
    assert through == _native.process_table(job.launcher_pid, dict(candidates))
    processes.assert_running(job.launcher_pid)
