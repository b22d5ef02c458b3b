"""Measurements inside a debugger that has attached to a rank."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Dict, Tuple

from mpi_queues import jobs
from support import builds
from support.jobs import Job
from support.memory import symbol
from support.paths import PROGRAMS, PROJECT

HERE = Path(__file__).resolve().parent
SYMBOLS = (
    "ompi_debugger_setup_dlls",
    "MPIR_debug_typedefs_sizeof",
    "ompi_mpi_communicators",
    "mca_pml_base_send_requests",
    "mca_pml_base_recv_requests",
)

#: What was measured, what is wanted, whether it holds, and the command.
Row = Tuple[str, str, str, bool]


def plugin_path() -> Path:
    return next(Path("/usr/lib").glob("*/openmpi/lib/openmpi*/libompi_dbg_msgq.so"))


def write_table(pid: int, path: Path) -> None:
    """The types and symbols that the plain hosts answer from: those of the shipped profile."""
    types = json.loads((PROJECT / "layouts" / "openmpi-4.1.json").read_text())["types"]
    with path.open("w") as file:
        for name in SYMBOLS:
            file.write(f"symbol {name} {symbol(pid, name)}\n")
        for name, layout in types.items():
            file.write(f"type {name} {layout['size']}\n")
            for field, place in layout["fields"].items():
                file.write(f"field {name} {field} {place['offset']}\n")


def in_gdb(job: jobs.Job, *measure: str, runs: int = 5) -> Dict[str, Any]:
    """Runs measurements of ``in_gdb.py`` in a gdb of their own on rank 0."""
    with tempfile.TemporaryDirectory(prefix="mq-") as directory:
        out, table = Path(directory) / "results.json", Path(directory) / "table"
        if "plain_hosts" in measure:
            write_table(job.pids[0], table)
        flags = ["-O2", "-I", str(PROGRAMS / "plugins"), "-ldl", "-Wno-error"]
        bench: Dict[str, Any] = {
            "measure": measure,
            "runs": runs,
            "out": str(out),
        }
        if "plugin" in measure or "plain_hosts" in measure:
            host = builds.compile_with(["cc"], "plain", [HERE / "plain_host.c"], flags)
            bench.update(plugin=str(plugin_path()), table=str(table), plain_host=str(host))
        command = ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set auto-load off"]
        loader = PROJECT / "gdb-scripts" / "mpi_queues.py"
        command += ["-p", str(job.pids[0]), "-x", str(loader), "-x", str(HERE / "in_gdb.py")]
        with open(Path(directory) / "errors", "w+") as errors:
            subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env={**os.environ, "BENCH": json.dumps(bench)},
                check=False,
            )
            if not out.exists():
                errors.seek(0)
                raise SystemExit(f"{' '.join(command)}\n{errors.read()}")
        found: Dict[str, Any] = json.loads(out.read_text())
        return found


def in_lldb(job: jobs.Job, *measure: str, runs: int = 5) -> Dict[str, Any]:
    """Runs measurements of ``in_lldb.py`` in an lldb of their own on rank 0."""
    with tempfile.TemporaryDirectory(prefix="mq-") as directory:
        out = Path(directory) / "results.json"
        loader = PROJECT / "lldb-scripts" / "mpi_queues.py"
        command = ["lldb-19", "--no-lldbinit", "--batch", "-p", str(job.pids[0])]
        for script in (loader, HERE / "in_lldb.py"):
            command += ["-o", f"command script import {script}"]
        run = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "BENCH": json.dumps({"measure": measure, "runs": runs, "out": str(out)})},
            check=False,
        )
        if not out.exists():
            raise SystemExit(f"{' '.join(command)}\n{run.stdout}")
        found: Dict[str, Any] = json.loads(out.read_text())
        return found


def many(build: builds.MpiBuild, receives: int, communicators: int = 0) -> Job:
    return Job(build, "many", str(receives), str(communicators), "0", ranks=2)
