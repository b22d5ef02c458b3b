"""Runs the project's command line as a person does."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, Optional

from .paths import MPI_QUEUES
from .preloaded import preloaded

#: Only keeps a hanging command from hanging the tests.
TIMEOUT = 180.0


@dataclass(frozen=True)
class Result:
    """What a command printed and how it ended."""

    command: list[str]
    status: int
    out: str
    err: str

    def __str__(self) -> str:
        return f"$ {' '.join(self.command)}\n[{self.status}]\n{self.out}\n{self.err}"


def mpi_queues(*arguments: str, timeout: float = TIMEOUT, environment: Optional[Dict[str, str]] = None) -> Result:
    """``mpi-queues ARGUMENTS``."""
    if not MPI_QUEUES.exists():
        raise AssertionError(f"{MPI_QUEUES} does not exist: type make build")
    command = [str(MPI_QUEUES), *arguments]
    if environment is None and preloaded().fits():
        run = preloaded().run(arguments, timeout)
        return Result(command, run.returncode, run.stdout, run.stderr)
    run = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout,
        env={**os.environ, **(environment or {})},
        check=False,
    )
    return Result(command, run.returncode, run.stdout, run.stderr)


def pid_options(pids: Iterable[int]) -> List[str]:
    return [part for pid in pids for part in ("--pid", str(pid))]


def show(pids: Iterable[int], *options: str, status: int = 0) -> dict[int, Any]:
    """``mpi-queues show --format json``: the processes by pid."""
    result = mpi_queues("show", *pid_options(pids), "--format", "json", *options)
    assert result.status == status, str(result)
    snapshot = json.loads(result.out)
    assert snapshot["schema"] == "mpi-queues/1"
    return {process["pid"]: process for process in snapshot["processes"]}
