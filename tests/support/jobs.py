"""Runs MPI jobs up to the place where they hang, and ends them without leaving anything behind."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence

from . import processes
from .builds import MpiBuild, _environment, compile_program

#: Only keeps a broken job from hanging the tests; a job is ready when its ranks say so.
READY_TIMEOUT = 180.0

Truth = Dict[str, Any]


_open_jobs: List[Job] = []


@atexit.register
def _close_all() -> None:
    """Also where a program other than pytest uses this module and fails."""
    for job in list(_open_jobs):
        job.close()


class JobFailed(AssertionError):
    """The job ended, or did not get ready."""


def job_environment(directory: Path) -> Dict[str, str]:
    """For mpirun: as root, more ranks than cores, and every file of its own below one directory."""
    environment = _environment()
    environment.update(
        OMPI_ALLOW_RUN_AS_ROOT="1",
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
        PRTE_ALLOW_RUN_AS_ROOT="1",
        PRTE_ALLOW_RUN_AS_ROOT_CONFIRM="1",
        TMPDIR=str(directory),
        # The segments of shared memory, which a killed process cannot remove (btl vader in 4.1, sm in 5.0).
        OMPI_MCA_btl_vader_backing_directory=str(directory),
        OMPI_MCA_btl_sm_backing_directory=str(directory),
        OMPI_MCA_mpi_yield_when_idle="1",
    )
    return environment


class Job:
    """An MPI job whose ranks have all reached the place where they hang."""

    def __init__(
        self,
        build: MpiBuild,
        program: str,
        *arguments: str,
        ranks: int = 2,
        mca: Optional[Mapping[str, str]] = None,
        options: Sequence[str] = (),
    ) -> None:
        self.build = build
        self.program = compile_program(build, program)
        self.truth: Dict[int, Truth] = {}
        # A short path: it becomes part of socket names, which are limited to 107 bytes.
        self.directory = Path(tempfile.mkdtemp(prefix="mq-", dir="/tmp"))
        self._members: List[processes.Identity] = []
        command = [str(build.mpirun), "--oversubscribe", "-n", str(ranks)]
        for name, value in (mca or {}).items():
            command += ["--mca", name, value]
        command += [*options, str(self.program), *arguments]
        self.command = command
        environment = job_environment(self.directory)
        environment["MPIQ_TRUTH"] = str(self.directory / "truth.%d.json")
        self._output = open(self.directory / "output", "w+b")  # noqa: SIM115 - closed in close()
        try:
            self.launcher = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )
        except BaseException:
            self._output.close()
            shutil.rmtree(self.directory, ignore_errors=True)
            raise
        _open_jobs.append(self)
        try:
            self._await_ready(ranks)
        except BaseException:
            self.close()
            raise

    def _await_ready(self, ranks: int) -> None:
        deadline = time.monotonic() + READY_TIMEOUT
        missing = set(range(ranks))
        while missing:
            for rank in sorted(missing):
                path = self.directory / f"truth.{rank}.json"
                if path.exists():
                    self.truth[rank] = json.loads(path.read_bytes())
                    missing.discard(rank)
            if missing and self.launcher.poll() is not None:
                raise JobFailed(f"{' '.join(self.command)} ended with {self.launcher.returncode}:\n{self.output()}")
            if missing and time.monotonic() > deadline:
                raise JobFailed(f"{' '.join(self.command)}: ranks {sorted(missing)} did not get ready\n{self.output()}")
            if missing:
                time.sleep(0.005)
        self._members = processes.descendants(self.launcher.pid)

    @property
    def pids(self) -> List[int]:
        """The process id of each rank, in rank order."""
        return [self.truth[rank]["pid"] for rank in sorted(self.truth)]

    def output(self) -> str:
        """What the job has printed."""
        return (self.directory / "output").read_text(errors="replace")

    def assert_running(self) -> None:
        """All ranks run as before, and nobody traces them."""
        for pid in self.pids:
            processes.assert_running(pid)

    def close(self) -> None:
        """Ends the ranks, then the launcher, and removes the job's directory."""
        if self not in _open_jobs:
            return
        _open_jobs.remove(self)
        members = {*self._members, *processes.descendants(self.launcher.pid)}
        launcher = processes.identity(self.launcher.pid)
        try:
            ranks = {truth["pid"] for truth in self.truth.values()}
            processes.end(process for process in members if process.pid in ranks)
            if self.launcher.poll() is None:
                self.launcher.send_signal(signal.SIGTERM)
            try:
                self.launcher.wait(10)
            except subprocess.TimeoutExpired:
                if launcher is not None:
                    os.kill(self.launcher.pid, signal.SIGKILL)
                self.launcher.wait()
            processes.end(members)
        finally:
            self._output.close()
            shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
