"""The current directory is anybody's: no module of Python is taken from it, neither by the debugger that the command
line starts nor in a session."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest
from mpi_queues.debuggers.invocation import launcher
from mpi_queues.request import Live, Question, Request

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "python" / "mpi_queues" / "data"

#: Of Python's own library, of nobody's, and of ours.
NAMES = ("json", "signal", "struct", "of_nobody", "_native", "mpi_queues_extra")


@pytest.mark.parametrize("via", ["gdb", "lldb"])
def test_no_module_comes_from_the_current_directory(via: str, tmp_path: Path) -> None:
    hit = tmp_path / "hit"
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(f"open({str(hit)!r}, 'a').write({name!r})\n")
    imports = "; ".join(f"importlib.util.find_spec({name!r}) and importlib.import_module({name!r})" for name in NAMES)
    look = f"import importlib, importlib.util, sys; {imports}; print('entries', '' in sys.path, '.' in sys.path)"
    debugger = launcher(via)
    if via == "gdb":
        session = [debugger.program, "-nx", "-batch", "-ex", f"source {DATA}/gdb-scripts/mpi_queues.py"]
        session += ["-ex", f"python {look}", "-ex", "mpi help"]
    else:
        session = [debugger.program, "--no-lldbinit", "--batch"]
        session += ["-o", f"command script import {DATA}/lldb-scripts/mpi_queues.py"]
        session += ["-o", f"script {look}", "-o", "mpi help"]
    run = subprocess.run(session, cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert "entries False False" in run.stdout and not hit.exists(), run.stdout + run.stderr
    # The command line's: it is given a process that there is not.
    question, answer = os.pipe(), os.pipe()
    os.write(question[1], Question(Request(), time.monotonic() + 60.0, live=Live(2147483646)).to_json())
    os.close(question[1])
    environment = debugger.environment()
    environment.update(MPI_QUEUES_REQUEST_FD=str(question[0]), MPI_QUEUES_RESULT_FD=str(answer[1]))
    subprocess.run(
        debugger.command, cwd=tmp_path, env=environment, pass_fds=(question[0], answer[1]), capture_output=True
    )
    os.close(answer[1])
    said = os.read(answer[0], 4096)
    assert b"cannot attach" in said and not hit.exists(), said
