"""Jobs that a debugger starts or finds, and what they say of themselves: real ones, and one that speaks MPIR without an
MPI."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Dict, List, Optional, Sequence

from mpi_queues.system.processes import environment

from . import processes
from .builds import MpiBuild, compile_with
from .paths import PROGRAMS

#: All processes of a job have it in their environment.
MARK = "MPIQ_TEST_JOB"


class Place:
    """The directory of a job, and the end of all that the job has started."""

    def __init__(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="mq-", dir="/tmp"))

    @property
    def environment(self) -> Dict[str, str]:
        """For the debugger or the launcher: this machine alone, and whatever user and number of processors it has."""
        settings = {
            MARK: str(self.directory),
            "TMPDIR": str(self.directory),
            "OMPI_MCA_pml": "ob1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
            "OMPI_MCA_mpi_yield_when_idle": "1",
            "OMPI_MCA_hwloc_base_binding_policy": "none",
            "PRTE_MCA_hwloc_default_binding_policy": "none",
            "OMPI_MCA_btl_vader_backing_directory": str(self.directory),
            "OMPI_MCA_btl_sm_backing_directory": str(self.directory),
            "OMPI_MCA_plm": "isolated",
            "HYDRA_LAUNCHER": "fork",
            "HYDRA_RMK": "user",
            "OMPI_MPIR_DO_NOT_WARN": "1",
        }
        for implementation in ("OMPI", "PRTE"):
            settings[f"{implementation}_ALLOW_RUN_AS_ROOT"] = "1"
            settings[f"{implementation}_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
        return settings

    def has(self, name: str) -> bool:
        return (self.directory / name).exists()

    def touch(self, name: str) -> None:
        (self.directory / name).touch()

    def await_files(self, *names: str) -> None:
        processes.wait_until(lambda: all(self.has(name) for name in names), f"{', '.join(names)} in {self.directory}")

    def pid(self, rank: int) -> int:
        """What the rank of job_until_told.c says of itself."""
        return int((self.directory / f"rank.{rank}").read_text())

    def members(self) -> List[int]:
        """The processes of the job that live."""
        found = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]
        mine = [pid for pid in found if environment(pid, MARK) == str(self.directory)]
        return [pid for pid in mine if processes.state(pid) not in (None, "Z")]

    def await_end(self) -> None:
        """Waits until nothing of the job is left."""
        processes.wait_until(lambda: not self.members(), f"the end of the job in {self.directory}")

    def end(self) -> None:
        for pid in self.members():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.await_end()
        shutil.rmtree(self.directory, ignore_errors=True)


class Started(Place):
    """A real job, started beside the debugger; its ranks wait to be told to end."""

    def __init__(self, build: MpiBuild, *, ranks: int, flags: Sequence[str] = ()) -> None:
        super().__init__()
        self.ranks = ranks
        program = compile_with([str(build.mpicc)], build.id, [PROGRAMS / "job_until_told.c"], flags)
        self.launcher = subprocess.Popen(
            [str(build.mpirun), "-n", str(ranks), str(program), str(self.directory)],
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            self.await_files(*(f"rank.{rank}" for rank in range(ranks)))
        except BaseException:
            self.end()
            raise
        self.pids = [self.pid(rank) for rank in range(ranks)]

    def finish(self) -> int:
        """Tells the ranks to end; the launcher's status."""
        self.touch("finish")
        return self.launcher.wait(60)

    def assert_running(self) -> None:
        for pid in (self.launcher.pid, *self.pids):
            processes.assert_running(pid)

    def end(self) -> None:
        super().end()
        self.launcher.wait()


class Starter(Place):
    """The command line of mpir_starter.c, and what it notes."""

    def __init__(
        self, *flags: str, ranks: int = 2, remote: int = 0, rank_flags: Optional[Sequence[str]] = None
    ) -> None:
        super().__init__()
        gate = ["-DGATE"] if rank_flags is None else list(rank_flags)
        starter = compile_with(["cc"], "plain", [PROGRAMS / "mpir_starter.c"], [f"-D{flag}" for flag in flags])
        rank = compile_with(["cc"], "plain", [PROGRAMS / "mpir_rank.c"], gate)
        self.program = str(starter)
        self.rank = str(rank)
        self.arguments = [str(self.directory), str(ranks), str(remote), self.rank]
        self.command = " ".join([self.program, *self.arguments])

    def truth(self) -> List[int]:
        """The launcher's process id, and those of its ranks."""
        self.await_files("truth")
        return [int(line) for line in (self.directory / "truth").read_text().split()]

    def said(self, name: str) -> str:
        self.await_files(name)
        return (self.directory / name).read_text()
