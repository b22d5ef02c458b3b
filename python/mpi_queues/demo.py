"""``mpi-queues demo``: a small deadlocked MPI job, started, read, explained, ended. It leaves nothing behind."""

from __future__ import annotations

import argparse
import ctypes
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from typing import Any, Dict, Iterator, List, Optional

from . import asking, processes
from ._native import Snapshot
from .debuggers import via_debugger
from .errors import UserError
from .report import explain, text
from .show import terminal_style
from .targets import PidTarget

SOURCE = pathlib.Path(__file__).resolve().parent / "data" / "demo.c"
RANKS = 3

#: Seconds that a loaded machine may need to start a job of three ranks.
_START = 60.0


def add_command(commands: Any) -> None:
    """Adds ``demo`` to the command line."""
    parser = commands.add_parser(
        "demo",
        help="a small deadlocked job: started, read, explained, ended",
        description="Compiles a small MPI program that deadlocks, starts it, shows its queues, explains them, ends it.",
        epilog="example:\n  mpi-queues demo",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """``mpi-queues demo``."""
    _check_tools()
    with tempfile.TemporaryDirectory(prefix="mpi-queues-demo-") as directory:
        place = pathlib.Path(directory)
        program = _compile(place)
        say(f"Starting {RANKS} ranks of a program that deadlocks (its source: {SOURCE}).")
        with _job(program, place) as ranks:
            pids = [ranks[rank] for rank in sorted(ranks)]
            say("It hangs. This reads it, here and on any job of yours:\n")
            print("  mpi-queues show " + " ".join(f"--pid {pid}" for pid in pids) + "\n", flush=True)
            snapshot = _read(pids)
            shown = snapshot.filtered(internal=False)
            text.write_queues(shown, sys.stdout.write, text.Options(style=terminal_style()))
            say("\nIn words:\n")
            explain.write_explanation(shown, sys.stdout.write)
    say("\nThe job was ended.")
    return 0


def say(line: str) -> None:
    """One line, at once."""
    print(line, flush=True)


def _check_tools() -> None:
    packages = {"mpicc": "libopenmpi-dev", "mpirun": "openmpi-bin", "gdb": "gdb", "gcc": "gcc"}
    missing = [command for command in packages if shutil.which(command) is None]
    if missing:
        wanted = " ".join(packages[command] for command in missing)
        raise UserError(
            f"the demo needs {', '.join(missing)}, not found on this machine",
            help=f"type: sudo apt install {wanted}",
            kind="no_tool",
        )


def _compile(place: pathlib.Path) -> pathlib.Path:
    program = place / "demo"
    compiler = subprocess.run(
        ["mpicc", "-g", "-O1", "-o", str(program), str(SOURCE)],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if compiler.returncode:
        raise UserError(f"mpicc could not compile the demo:\n{compiler.stderr.strip()}", help="type: mpicc --version")
    return program


def _environment(place: pathlib.Path) -> Dict[str, str]:
    environment = dict(os.environ)
    # Session directories of the launcher go with ours.
    environment["TMPDIR"] = str(place)
    if os.geteuid() == 0:
        environment["OMPI_ALLOW_RUN_AS_ROOT"] = environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    # This job runs on this machine alone: no ssh, no batch system of which we may be a part, the pml that we read.
    environment.update(
        OMPI_MCA_pml="ob1",
        OMPI_MCA_btl="self,vader",
        OMPI_MCA_rmaps_base_oversubscribe="1",
        OMPI_MCA_plm="isolated",
    )
    return environment


@contextmanager
def _job(program: pathlib.Path, place: pathlib.Path) -> Iterator[Dict[int, int]]:
    """The running job: the pid of each rank, once all that they post is there to be seen."""
    command = ["mpirun", "--oversubscribe", "-np", str(RANKS), str(program)]
    with (place / "errors").open("w+b") as errors:
        launcher = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=_environment(place),
            # Ctrl-C comes to us alone, and we end the job.
            start_new_session=True,
        )
        ranks: Dict[int, int] = {}
        started: Dict[int, Optional[int]] = {}
        try:
            for rank, pid in _ready(launcher, place / "errors"):
                ranks[rank] = pid
                started[pid] = processes.start_time(pid)
            yield ranks
        finally:
            _end(launcher, started)


def _ready(launcher: subprocess.Popen[bytes], errors: pathlib.Path) -> Iterator[tuple[int, int]]:
    """Rank and pid of each rank as it says that it is ready."""
    assert launcher.stdout is not None
    deadline = time.monotonic() + _START
    seen = 0
    buffered = b""
    while seen < RANKS:
        left = deadline - time.monotonic()
        ready = select.select([launcher.stdout], [], [], max(0.0, left))[0] if left > 0 else []
        piece = os.read(launcher.stdout.fileno(), 4096) if ready else b""
        if not piece:
            said = errors.read_text(encoding="utf-8", errors="replace").strip()
            raise UserError(
                "the demo's job did not start" + (f"; mpirun said:\n{said}" if said else ""),
                help="type: mpirun --version",
                kind="no_job",
            )
        *lines, buffered = (buffered + piece).split(b"\n")
        for line in lines:
            words = line.split()
            if len(words) == 3 and words[0] == b"ready":
                seen += 1
                yield int(words[1]), int(words[2])


def _end(launcher: subprocess.Popen[bytes], started: Dict[int, Optional[int]]) -> None:
    """Ends the launcher, which ends its ranks, and any rank that it leaves."""
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        _adopt_orphans()
        launcher.terminate()
        try:
            launcher.wait(10)
        except subprocess.TimeoutExpired:
            launcher.kill()
            launcher.wait()
        if launcher.stdout is not None:
            launcher.stdout.close()
        left = _still_there(started)
        deadline = time.monotonic() + 2
        while left and time.monotonic() < deadline:
            time.sleep(0.02)
            left = _still_there(started)
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        _reap(started)
    finally:
        signal.signal(signal.SIGINT, previous)


def _adopt_orphans() -> None:
    """Ranks that outlive their launcher become our children, so that we can wait for them: init may not do so."""
    pr_set_child_subreaper = 36
    ctypes.CDLL(None, use_errno=True).prctl(pr_set_child_subreaper, 1, 0, 0, 0)


def _reap(started: Dict[int, Optional[int]]) -> None:
    """Waits for the ranks that became our children; one that was just killed needs a moment to end."""
    deadline = time.monotonic() + 2
    for pid in started:
        try:
            while os.waitpid(pid, os.WNOHANG)[0] == 0 and time.monotonic() < deadline:
                time.sleep(0.01)
        except ChildProcessError:
            # Its launcher has waited for it.
            continue


def _still_there(started: Dict[int, Optional[int]]) -> List[int]:
    return [
        pid
        for pid, start in started.items()
        if start is not None and processes.start_time(pid) == start and processes.state(pid) not in ("", "Z", "X")
    ]


def _read(pids: List[int]) -> Snapshot:
    snapshots, failures = asking.snapshots([PidTarget(pid) for pid in pids], via_debugger.Request("read"))
    if not snapshots:
        asking.raise_all(failures)
    return Snapshot.merged(snapshots, [str(failure).replace("\n", "; ") for failure in failures])
