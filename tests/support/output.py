"""Output of commands on pages: compared without what every run has anew."""

from __future__ import annotations

import re
from typing import List, Sequence, Tuple

#: A line that stands for any lines.
LEFT_OUT = "…"

#: What differs from run to run and from machine to machine, and what stands for it.
_OWN: Sequence[Tuple[str, str]] = (
    (r"\b0x[0-9a-f]+\b", "0xADDRESS"),
    # Of processes and jobs.
    (r"\b(pid|--job|--pid|core\.|gdb -p|JOB) ?=?\d+", r"\1 NUMBER"),
    (r"\bslurm:\d+", "slurm:NUMBER"),
    # The rows of ``mpi-queues ranks``.
    (r"(?m)^ +(\d+) +\d+ +\S+ +(?:running|sleeping) ", r" \1 NUMBER HOST running "),
    # Hosts, and directories of programs, of which long ones are shortened.
    (r"(?<=NUMBER on )[\w.-]+", "HOST"),
    (r"(?:…[\w.+-]*)?/(?:[\w.+-]+/)*(?=[\w.+-]+)", "/"),
    # Looks take longer on a busy machine.
    (r"\b\d+\.\d s apart", "TIME apart"),
    (r"has moved for \d+ seconds", "has moved for TIME"),
    (r"(_since_seconds\{[^}]*\}) \d+", r"\1 SECONDS"),
    # Whose test was the first.
    (r"(takes more than \d+ seconds on rank) \d+", r"\1 RANK"),
    (r"\b\d+(?:\.\d)? (?:[KM]iB|MB|KB)\b", "SIZE"),
    # Names of Fortran's functions in the library.
    (r"\b(mpi_[a-z]+?)_+\b", r"\1"),
    # Debian 12 and 13, and with debug symbols of the C library or without.
    (r"Open MPI \d[\w.]*", "Open MPI VERSION"),
    (r"profile:openmpi-[\d.]+", "profile:openmpi-VERSION"),
    (r"\b(?:__GI_)?(?:___?)?clock_nanosleep(?:@\w+)?", "clock_nanosleep"),
)


def normal(text: str) -> str:
    """The words of an output, with what is its own taken away."""
    for pattern, instead in _OWN:
        text = re.sub(pattern, instead, text)
    return " ".join(text.split())


def fits(shown: str, said: str) -> bool:
    """Whether a command said what a page shows; a line ``…`` there stands for any lines."""
    parts = [normal(part) for part in re.split(rf"^\s*{LEFT_OUT}\s*$", shown, flags=re.MULTILINE)]
    pattern = ".*".join(re.escape(part) for part in _spaced(parts))
    return re.fullmatch(pattern, normal(said), re.DOTALL) is not None


def _spaced(parts: List[str]) -> List[str]:
    """Blanks between words belong to no part: what is left out may be nothing."""
    return [part.strip() for part in parts]
