"""``mpi-queues demo``: a small deadlocked MPI job, started, read, explained, ended. What it leaves is a report.

On a machine that has no MPI it tells the same story from a recording of that job.
"""

from __future__ import annotations

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import Any, List

from .. import api
from .._native import Diagnosis
from ..errors import UserError
from ..jobs import Job
from ..page import writing
from ..report import diagnosis as report
from ..report import text
from ..system import advice
from .answers import terminal_style, terminal_width

_DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
SOURCE = _DATA / "demo.c"
#: Made by ``make recordings``.
RECORDING = _DATA / "demo.mpirec"
RANKS = 3

#: What the real job needs, with Debian's packages.
_TOOLS = {"mpicc": "libopenmpi-dev", "mpirun": "openmpi-bin", "gcc": "gcc"}


def add_command(commands: Any) -> None:
    """Adds ``demo`` to the command line."""
    parser = commands.add_parser(
        "demo",
        help="start, read, explain and end a small job that deadlocks",
        description="Compiles and starts a small MPI program that deadlocks, shows its queues, says why it is stuck, "
        "and ends it. Without an MPI, it shows a recording of the same program.",
        epilog="example:\n  mpi-queues demo",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """``mpi-queues demo``."""
    missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
    if missing:
        _replay(missing)
    else:
        _run_job()
    return 0


def _run_job() -> None:
    with tempfile.TemporaryDirectory(prefix="mpi-queues-demo-") as directory:
        program = compile_demo(pathlib.Path(directory))
        say(f"Starting {RANKS} ranks of a program that deadlocks (its source: {SOURCE}).")
        with Job(program, ranks=RANKS) as job:
            say("It hangs. These commands read it, or any job of yours:\n")
            named = " ".join(f"--pid {pid}" for pid in job.pids)
            say(f"  mpi-queues show {named}")
            say(f"  mpi-queues diagnose {named}\n")
            diagnosis = job.diagnose()
            _tell(diagnosis)
            _write_report(diagnosis)
    say("\nThe job was ended.")


def _replay(missing: List[str]) -> None:
    """Says what is missing, what is shown instead, and how to get the real one."""
    packages = [_TOOLS[tool] for tool in missing]
    say(f"This machine has no {' and no '.join(missing)}, so the demo cannot start and read a job here.")
    say(f"Instead it shows a recording of the same program (its source: {SOURCE}).")
    say(f"For the real one, {advice.install(' '.join(packages))}; mpi-queues demo\n")
    say("These commands read the recording; they need no MPI:\n")
    say(f"  mpi-queues show --recording {RECORDING}")
    say(f"  mpi-queues diagnose --recording {RECORDING}\n")
    diagnosis = api.load(RECORDING).diagnose()
    _tell(diagnosis)
    _write_report(diagnosis)
    say("\nThis was a recording: nothing was started.")


def _tell(diagnosis: Diagnosis) -> None:
    style, width = terminal_style(), terminal_width()
    shown = diagnosis.snapshot.filtered(internal=False)
    text.write_queues(shown, sys.stdout.write, text.Options(width=width, style=style))
    say("\nWhy it is stuck:\n")
    report.write_diagnosis(diagnosis, sys.stdout.write, report.Options(width=width, style=style))


def _write_report(diagnosis: Diagnosis) -> None:
    """The same as a page: in a new directory, since those of temporary files are everybody's."""
    try:
        path = pathlib.Path(tempfile.mkdtemp(prefix="mpi-queues-report-")) / "demo.html"
        writing.write(diagnosis, path)
    except (UserError, OSError) as error:
        say(f"\nNo report was written: {error}")
    else:
        say(f"\nThe same as a page for a browser: {path}")


def say(line: str) -> None:
    """One line, at once."""
    print(line, flush=True)


def compile_demo(place: pathlib.Path) -> pathlib.Path:
    """Compiles the demo's program in a directory of its own.

    Raises:
        UserError: with what the compiler says.
    """
    # A copy, which lies where the debug information says: what started a request is read from the source.
    shutil.copyfile(SOURCE, place / SOURCE.name)
    compiler = subprocess.run(
        ["mpicc", "-g", "-O1", "-o", "demo", SOURCE.name],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        cwd=place,
    )
    if compiler.returncode:
        raise UserError(f"mpicc could not compile the demo:\n{compiler.stderr.strip()}", help="type: mpicc --version")
    return place / "demo"
