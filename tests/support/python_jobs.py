"""MPI jobs of Python programs, and what these say of where they stand."""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Set, Tuple

from . import installs, priority
from .builds import MpiBuild
from .jobs import READY_TIMEOUT
from .paths import CACHE, PROGRAMS

PYTHON_PROGRAMS = PROGRAMS / "python"
#: That of the distribution, which has its mpi4py.
PYTHON = Path("/usr/bin/python3")

#: The release of the wheel of mpi4py, which has an extension for each of Open MPI and MPICH.
MPI4PY = "4.1.2"

_MARK = re.compile(r"([^\s;]+) ([^\s;]+) ([^\s;]+)")


class Place(NamedTuple):
    """Where a rank stands: one of these functions of MPI, called by one of these of Python."""

    functions: Set[str]
    callers: Set[str]
    file: str
    line: int


@functools.cache
def marked(program: str, word: str = "stuck") -> Dict[int, List[Place]]:
    """What a program says of each rank, at the lines with ``# WORD:``."""
    path = PYTHON_PROGRAMS / f"{program}.py"
    found: Dict[int, List[Place]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        _, mark, text = line.partition(f"# {word}: ")
        for ranks, functions, callers in _MARK.findall(text) if mark else []:
            for rank in ranks.split(","):
                place = Place(set(functions.split("|")), set(callers.split("|")), str(path), number)
                found.setdefault(int(rank), []).append(place)
    assert found, f"{path} has no mark {word}"
    return found


class PythonJob(priority.Job):
    """A job of a program of ``tests/programs/python`` whose ranks are about to hang."""

    def __init__(
        self,
        build: MpiBuild,
        program: str,
        *arguments: str,
        ranks: int = 2,
        python: Path = PYTHON,
        env: Optional[Mapping[str, str]] = None,
    ) -> None:
        self.build = build
        ours = [name for name in os.environ if name.startswith(("OMPI_", "PMIX_", "PRTE_", "MPIR_CVAR_", "PYTHON"))]
        super().__init__(
            python,
            ranks=ranks,
            args=[str(PYTHON_PROGRAMS / f"{program}.py"), *arguments],
            env={**dict.fromkeys(ours), **(env or {})},
            timeout=READY_TIMEOUT,
            launcher=build.mpirun,
        )

    def _environment(self, asked: Mapping[str, Optional[str]]) -> Dict[str, str]:
        return {**super()._environment(asked), "MPIQ_TRUTH": str(self.directory / "truth.%d.json")}

    def _is_ready(self, rank: int, lines: object) -> bool:
        return Path(self.directory, f"truth.{rank}.json").exists()


def mpi4py_of_wheel(build: MpiBuild) -> Tuple[Path, Dict[str, str]]:
    """An interpreter with the wheel of mpi4py, and the environment in which that finds the library of a build."""
    python = installs.wheel("mpi4py", MPI4PY) / "python"
    name = "libmpi.so.12" if build.is_mpich else "libmpi.so.40"
    folder = build.mpicc.parent.parent / "lib"
    if not (folder / name).exists():
        # Debian's MPICH has a name of its own.
        folder = CACHE / f"mpi4py-{build.id}"
        (library,) = Path("/usr/lib").glob("*/libmpich.so.12" if build.is_mpich else "*/libmpi.so.40")
        with installs.locked(folder.name):
            folder.mkdir(exist_ok=True)
            if not (folder / name).is_symlink():
                (folder / name).symlink_to(library)
    return python, {"LD_LIBRARY_PATH": str(folder), "MPI4PY_MPIABI": "mpich" if build.is_mpich else "openmpi"}


def with_mpi4py(build: MpiBuild) -> Dict[str, str]:
    """The environment in which the Python of the tests has mpi4py as well, for that build."""
    python, environment = mpi4py_of_wheel(build)
    (packages,) = python.parent.parent.glob("lib/python3*/site-packages")
    paths = [os.environ["PYTHONPATH"]] if "PYTHONPATH" in os.environ else []
    return {**environment, "PYTHONPATH": os.pathsep.join([*paths, str(packages)])}


def is_at(call: Mapping[str, Any], place: Place) -> bool:
    """Whether a call is told as the program says it."""
    told: Tuple[Any, ...] = call["file"], call["line"]
    # Newer releases of mpi4py call the functions for large counts.
    function = call["function"][:-2] if call["function"].endswith("_c") else call["function"]
    return function in place.functions and call["caller"] in place.callers and told == (place.file, place.line)
