"""The parameters of MPI functions, with the names of the MPI standard, for C and Fortran (crates/functions)."""

from __future__ import annotations

from typing import List, NamedTuple, Optional

from .. import _native


class Parameter(NamedTuple):
    """One parameter of a function."""

    name: str
    #: Whether the function of C gets an address.
    address: bool
    #: The parameter with the number of elements, where it is an array of handles that the function is given.
    length: Optional[str]
    #: Whether the address is that of one handle that the function is given.
    handle: bool
    #: Bytes of an integer that the function of C gets (4: int; 8: MPI_Aint, MPI_Count, MPI_Offset); None for addresses,
    #: and for handles, in whose widths the MPIs differ.
    bytes: Optional[int]


def parameters(function: str, *, fortran: bool = False) -> Optional[List[Parameter]]:
    """The parameters of a function by its name in C; in Fortran ``ierror`` follows.

    None: it is no function of the standard's.
    """
    found = _native.mpi_parameters(function, fortran)
    return None if found is None else [Parameter(*one) for one in found]
