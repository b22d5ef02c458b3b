"""Sources that a program's debug information names: long lines, deep calls, quotes and comments that never end.

Each is made of its seed. Looking for a call in it, and for the constants that it defines, must be over in a moment.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from typing import Iterator, Optional

from support.callers import MadeUpCaller

from .guarded import Run, guarded

SHORT = range(6)
LONG = range(300)
MPIS = ()

#: Processor time for one source of some megabytes.
MAX_SECONDS = 10.0

_PIECES = (
    *("MPI_Send(", "MPI_Send (", "PMPI_Send(a,", ")", "(", "[", "]", "{", "}", ",", ";", "\n", " ", "\t", "\\\n", "\\"),
    *('"', "'", "0'1", "/*", "*/", "//", 'R"(', 'R"x(', ')"', "#define A ", "#define B A A\n", "#if 1\n", "#endif\n"),
    *("#ifndef A\n#define A\n", '#include "a.h"\n', "#undef A\n", "&", "!", "a", "é", "\0", "\r\n"),
)
_NAMES = ("a.c", "a.cc", "a.f90", "a.f")


def _made(seed: int) -> tuple[str, str]:
    """A source's name and text."""
    rnd = random.Random(seed)
    size = rnd.choice((1_000, 20_000, 200_000, 2_000_000))
    kind = rnd.randrange(3)
    if kind == 0:
        # One piece over and over, and another behind them: nothing closes what was opened.
        piece = rnd.choice(_PIECES)
        text = piece * (size // len(piece)) + rnd.choice(_PIECES)
    elif kind == 1:
        piece = "".join(rnd.choice(_PIECES) for _ in range(rnd.randint(2, 5)))
        text = piece * (size // len(piece))
    else:
        text = "".join(rnd.choice(_PIECES) for _ in range(size // 3))
    call = "\nMPI_Send(buf, A, MPI_INT, 1, 2, comm);\n"
    at = rnd.choice((0, len(text) // 2, len(text)))
    return rnd.choice(_NAMES), text[:at] + call + text[at:]


def _look(seed: int) -> str:
    name, text = _made(seed)
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, name)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        with open(os.path.join(directory, "a.h"), "w", encoding="utf-8", newline="") as file:
            file.write(text[: 1 << 16])
        built = time.time() + 10
        rnd = random.Random(seed)
        known = 0
        for line in (1, 2, text.count("\n", 0, text.index("\nMPI_Send(buf")) + 2, rnd.randint(1, 1 + text.count("\n"))):
            arguments, _ = MadeUpCaller(path, line, built).call("MPI_Send")
            known += bool(arguments)
    return "found" if known else "unknown"


def runs(seeds: range, mpi: Optional[str] = None) -> Iterator[Run]:
    """One source for each seed."""
    for seed in seeds:
        outcome = guarded(lambda seed=seed: _look(seed))  # type: ignore[misc]
        problems = list(outcome.problems)
        if outcome.seconds > MAX_SECONDS:
            problems.append(f"a source took {outcome.seconds:.1f} s of the processor")
        yield Run(f"seed {seed}", tuple(problems), outcome.seconds, str(outcome.value))
