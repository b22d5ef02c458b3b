"""Constants of MPI that applications name in calls; their values differ between the MPIs."""

from __future__ import annotations

import re
from typing import Callable, Dict, NamedTuple, Optional

#: A name that mpi.h defines; functions and types of MPI have small letters after the first.
CONSTANT = re.compile(r"MPIX?_[A-Z0-9_]+\Z")

#: Open MPI: ompi/include/mpi.h.in of v4.1.4 (the same in v5.0); MPICH: src/include/mpi.h.in of v4.0.2 (the same in what
#: is derived from it); the ABI of MPI 5: src/binding/abi/mpi_abi.h of MPICH v5.0.1.
_RANKS: Dict[str, Dict[str, int]] = {
    "openmpi": {"MPI_ANY_SOURCE": -1, "MPI_PROC_NULL": -2, "MPI_ROOT": -4},
    "mpich": {"MPI_ANY_SOURCE": -2, "MPI_PROC_NULL": -1, "MPI_ROOT": -3},
    "abi": {"MPI_ANY_SOURCE": -1, "MPI_PROC_NULL": -3, "MPI_ROOT": -4},
}
_ANY_TAG = {"openmpi": -1, "mpich": -1, "abi": -2}

#: Handles of C that are numbers; in MPICH those of Fortran are the same.
_NUMBERS: Dict[str, Dict[str, int]] = {
    "mpich": {
        "MPI_COMM_WORLD": 0x44000000,
        "MPI_COMM_SELF": 0x44000001,
        "MPI_COMM_NULL": 0x04000000,
        "MPI_REQUEST_NULL": 0x2C000000,
    },
    "abi": {
        "MPI_COMM_WORLD": 0x101,
        "MPI_COMM_SELF": 0x102,
        "MPI_COMM_NULL": 0x100,
        "MPI_REQUEST_NULL": 0x180,
    },
}
#: Handles of Open MPI are addresses of these in C (ompi/include/mpi.h.in), indices in Fortran (mpif-values.pl).
_SYMBOLS = {
    "MPI_COMM_WORLD": "ompi_mpi_comm_world",
    "MPI_COMM_SELF": "ompi_mpi_comm_self",
    "MPI_COMM_NULL": "ompi_mpi_comm_null",
    "MPI_REQUEST_NULL": "ompi_request_null",
}
_INDICES = {"MPI_COMM_WORLD": 0, "MPI_COMM_SELF": 1, "MPI_COMM_NULL": 2, "MPI_REQUEST_NULL": 0}

_RANK_PARAMETERS = frozenset(("source", "dest", "root", "rank", "target_rank", "local_leader", "remote_leader"))
_TAG_PARAMETERS = frozenset(("tag", "sendtag", "recvtag"))


class Family(NamedTuple):
    """Which MPI's constants a program has."""

    #: ``openmpi``, ``mpich``, ``abi``; empty where that is not known.
    name: str
    #: The address of a symbol of the program.
    symbol: Callable[[str], Optional[int]]

    def value(self, constant: str, *, fortran: bool) -> Optional[int]:
        """The number or handle that a constant is, None where it is not known here."""
        ranks = _RANKS.get(self.name, {})
        if constant in ranks:
            return ranks[constant]
        if constant == "MPI_ANY_TAG":
            return _ANY_TAG.get(self.name)
        if constant == "MPI_UNDEFINED":
            # The same in all of them.
            return -32766 if self.name else None
        if self.name == "openmpi":
            if fortran:
                return _INDICES.get(constant)
            symbol = _SYMBOLS.get(constant)
            return self.symbol(symbol) if symbol is not None else None
        return _NUMBERS.get(self.name, {}).get(constant)

    def meaning(self, parameter: str, value: int) -> Optional[str]:
        """What a number is called that was given as a rank or tag."""
        if parameter in _TAG_PARAMETERS and _ANY_TAG.get(self.name) == value:
            return "MPI_ANY_TAG"
        if parameter in _RANK_PARAMETERS:
            ranks = _RANKS.get(self.name, {})
            return next((name for name, number in ranks.items() if number == value), None)
        return None


def family(symbol: Callable[[str], Optional[int]], libraries: Callable[[], str]) -> Family:
    """The MPI of a program, by symbols of its library; ``libraries`` are the names of all that are loaded.

    A variable of mpi.h, which all that keep MPICH's ABI export whatever was stripped, tells MPICH
    (src/include/mpi.h.in, MPI_UNWEIGHTED); the version that older ones export is not there since 4.3.
    """
    if "libmpi_abi" in libraries():
        return Family("abi", symbol)
    if symbol("ompi_mpi_comm_world") is not None:
        return Family("openmpi", symbol)
    return Family("mpich" if symbol("MPI_UNWEIGHTED") is not None else "", symbol)
