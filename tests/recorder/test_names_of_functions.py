"""The names by which the flight recorder stands before functions: those of every MPI and every compiler of Fortran."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Dict, Iterator, Set

import pytest
from support import recorder
from support.builds import MpiBuild

#: What compilers make of a name of Fortran, by what they are called; options that change it are named.
COMPILERS = {
    "gfortran, flang, ifx, ifort, nvfortran, ftn": "{0}_",
    "gfortran -fno-underscoring, ifx -assume nounderscore, xlf": "{0}",
    "gfortran -fsecond-underscore": "{0}__",
    "ifx -names uppercase -assume nounderscore": "{1}",
}
#: The specific names of mpi_f08 and of mpi (MPI-5.0, 19.1.5), as all of these compilers end them.
SPECIFIC = ("{0}_f08_", "{0}_f08ts_", "{0}_fts_")
LARGE = ("{0}_c_f08_", "{0}_c_f08ts_")

#: What stands behind the stem of a name.
_END = re.compile(r"_?(?:(?:_c|_large)?_?(?:f08ts|f08|fts)(?:_large)?|_c)?_{0,2}$")


def exported(library: Path) -> Set[str]:
    out = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True)
    return {line.split()[2].split("@")[0] for line in out.stdout.splitlines() if len(line.split()) == 3}


def wrapped() -> Dict[str, str]:
    """The functions that are recorded, in lower case, by their names in C."""
    return {name.lower(): name for name in exported(recorder.library()) if re.match(r"MPI_[A-Z][a-z]", name)}


def libraries(build: MpiBuild) -> Iterator[Path]:
    """Those that a program of this MPI is linked with: of C, and of Fortran where it has one."""
    if build.id.startswith(("debian", "mpich-debian")):
        found = ("libmpich*.so.12",) if build.is_mpich else ("libmpi.so.40", "libmpi_*.so.40")
        folders = list(Path("/usr/lib").glob("*-linux-gnu"))
    else:
        found = ("libmpi.so.[0-9]*", "libmpi_abi.so.[0-9]*", "libmpifort*.so.[0-9]*")
        folders = [build.mpirun.parent.parent / "lib"]
    for folder in folders:
        for pattern in found:
            yield from folder.glob(pattern)


@pytest.mark.usual("debian", "mpich-debian")
def test_every_name_of_an_mpi_is_wrapped(any_mpi: MpiBuild) -> None:
    own, functions, missing, count = exported(recorder.library()), wrapped(), set(), 0
    for library in libraries(any_mpi):
        for name in exported(library):
            stem = _END.sub("", name.lower())
            # Persistent collectives before MPI 4.
            stem = re.sub(r"^mpix_(\w+_init)$", r"mpi_\1", stem)
            # Open MPI's own bindings call one another by these, and nobody else does.
            if stem not in functions or re.match(r"MPIX?_[A-Z][a-z_]+_f(08)?$", name):
                continue
            count += 1
            if name not in own:
                missing.add(name)
    assert not missing
    assert count > 150, count


@pytest.mark.parametrize("made", [*COMPILERS.values(), *SPECIFIC], ids=[*COMPILERS, *SPECIFIC])
def test_every_function_has_the_names_of_every_compiler(made: str) -> None:
    own = exported(recorder.library())
    functions = [name for name in wrapped() if not name.endswith("_c")]
    in_fortran = [name for name in functions if f"{name}_" in own]
    # Some are of C alone (MPI_Grequest_complete is not).
    assert len(in_fortran) > 0.95 * len(functions)
    assert [name for name in in_fortran if made.format(name, name.upper()) not in own] == []


@pytest.mark.parametrize("made", LARGE)
def test_functions_of_large_counts_have_their_names_in_fortran(made: str) -> None:
    own = exported(recorder.library())
    large = [name[:-2].lower() for name in wrapped().values() if name.endswith("_c")]
    assert len(large) > 100
    assert [name for name in large if made.format(name) not in own] == []
