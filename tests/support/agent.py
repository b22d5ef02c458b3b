"""Runs mpi-queues-agent, as `make agent` has built it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any, List, Mapping, NamedTuple

from .cli import TIMEOUT
from .paths import PACKAGE

AGENT = PACKAGE / "bin" / "mpi-queues-agent"


class Result(NamedTuple):
    """What it printed and how it ended."""

    status: int
    out: bytes
    err: str


def agent(*words: str, program: Path = AGENT, **options: Any) -> Result:
    """``mpi-queues-agent WORDS``, without anything of our environment: nodes have nothing else."""
    assert AGENT.exists(), f"{AGENT} does not exist: type make agent"
    environment: Mapping[str, str] = options.pop("env", {})
    run = subprocess.run(
        [str(program), *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
        env={"PATH": os.defpath, **environment},
        **options,
    )
    return Result(run.returncode, run.stdout, run.stderr.decode(errors="replace"))


def started(*words: str) -> subprocess.Popen[bytes]:
    """The same, not waited for."""
    command: List[str] = [str(AGENT), *words]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
