"""Runs the project's command line as a person does, and looks at what it costs and prints."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import Dict, Optional, Sequence, Tuple, Union

from support.paths import MPI_QUEUES

from .guarded import FORBIDDEN, GIVE_UP_SECONDS, MAX_BYTES, MAX_SECONDS
from .recordings import unclean

MEASURED = pathlib.Path(__file__).with_name("measured.py")


@dataclass(frozen=True)
class Typed:
    """How a command ended."""

    status: int
    out: str
    err: str
    #: What no input may make of it, in sentences.
    problems: Tuple[str, ...]
    #: Processor time.
    seconds: float

    @property
    def outcome(self) -> str:
        """In a word, for the figures."""
        if "not read within" in self.err:
            return "late"
        return {0: "read", 1: "read in part", 2: "refused", 3: "refused"}.get(self.status, "ended")


def typed(
    arguments: Sequence[Union[str, bytes]],
    *,
    limit: float = MAX_SECONDS,
    patience: float = GIVE_UP_SECONDS,
    most: int = MAX_BYTES,
    environment: Optional[Dict[str, str]] = None,
    user: Optional[int] = None,
) -> Typed:
    """``mpi-queues ARGUMENTS``, which may take ``limit`` seconds of the processor, ``patience`` by the clock, and
    ``most`` bytes."""

    problems = []
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as cost:
        # As text: another user may not read where the tests are.
        measured = [sys.executable, "-S", "-c", MEASURED.read_text(), str(cost.fileno()), str(patience)]
        subprocess.run(
            [*measured, str(MPI_QUEUES), *arguments],
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env={**os.environ, **(environment or {})},
            pass_fds=[cost.fileno()],
            user=user,
            group=user,
            extra_groups=[] if user is not None else None,
        )
        for file in (out, err, cost):
            file.seek(0)
        texts = [out.read(), err.read()]
        used = json.loads(cost.read())
    for content in texts:
        try:
            problems += filter(None, [unclean(content.decode())])
        except UnicodeDecodeError as error:
            problems.append(f"what is printed is no UTF-8: {error}")
    said, told = (content.decode(errors="replace") for content in texts)
    problems += [f"{word!r} is printed:\n{told[-2000:]}" for word in FORBIDDEN if word in said + told]
    if not used["in_time"]:
        problems.append(f"it had not ended after {patience:.0f} s: {told[-500:]}")
    elif used["status"] not in (0, 1, 2, 3):
        problems.append(f"status {used['status']}: {told[-2000:]}")
    if used["status"] != 0 and not told:
        problems.append(f"status {used['status']} without a word")
    if used["seconds"] > limit:
        problems.append(f"it took {used['seconds']:.1f} s of the processor: {told[-500:]}")
    if used["bytes"] > most:
        problems.append(f"a process of it took {used['bytes'] >> 20} MiB: {told[-500:]}")
    return Typed(used["status"], said, told, tuple(problems), used["seconds"])
