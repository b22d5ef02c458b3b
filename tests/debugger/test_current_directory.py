"""The current directory is anybody's: no module of Python is taken from it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from debuggers import LLDB

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "python" / "mpi_queues" / "data"

#: Of Python's own library, of nobody's, and of ours.
NAMES = ("json", "signal", "struct", "of_nobody", "_native", "mpi_queues_extra")


@pytest.mark.parametrize("debugger", ["gdb", "lldb"])
def test_no_module_comes_from_the_current_directory(debugger: str, tmp_path: Path) -> None:
    hit = tmp_path / "hit"
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(f"open({str(hit)!r}, 'a').write({name!r})\n")
    imports = "; ".join(f"importlib.util.find_spec({name!r}) and importlib.import_module({name!r})" for name in NAMES)
    look = f"import importlib, importlib.util, sys; {imports}; print('entries', '' in sys.path, '.' in sys.path)"
    if debugger == "gdb":
        session = ["gdb", "-nx", "-batch", "-ex", f"source {DATA}/gdb-scripts/mpi_queues.py"]
        session += ["-ex", f"python {look}", "-ex", "mpi help"]
    else:
        session = [LLDB, "--no-lldbinit", "--batch"]
        session += ["-o", f"command script import {DATA}/lldb-scripts/mpi_queues.py"]
        session += ["-o", f"script {look}", "-o", "mpi help"]
    run = subprocess.run(session, cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert "entries False False" in run.stdout and not hit.exists(), run.stdout + run.stderr
