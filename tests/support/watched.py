"""``mpi-queues run`` and ``watch`` beside a test."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Callable, Dict, List

from .builds import MpiBuild
from .paths import MPI_QUEUES

#: Only keeps what hangs from hanging the tests.
GUARD = 180.0

#: Compiles a program of ``tests/programs/watched``.
Compiled = Callable[[str, MpiBuild], Path]

#: Starts a job without us, until so many lines say that ranks are ready.
Launched = Callable[[List[str], int], "subprocess.Popen[str]"]

#: Starts ``mpi-queues`` with these arguments in this environment, and ends it with the test.
Started = Callable[..., "subprocess.Popen[str]"]


def starts(command: List[str], environment: Dict[str, str], **options: object) -> subprocess.Popen[str]:
    """``mpi-queues …``, whose output is read through pipes."""
    return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
        [str(MPI_QUEUES), *command],
        env=environment,
        text=True,
        errors="replace",
        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
    )
