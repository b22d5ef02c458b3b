"""Which of an application's types are MPI handles, by their names in debug information.

A debugger follows typedefs, pointers and qualifiers; here stands only what the names mean.
"""

from __future__ import annotations

from typing import Callable, Dict, NamedTuple, Optional, Sequence

from ..handle_types import KINDS

#: The kind of each type of mpi.h.
TYPEDEFS: Dict[str, str] = {c_type: kind for kind, c_type in KINDS.items()}

#: The tags of the ABI of MPI 5 (MPICH v5.0.1: src/binding/abi/mpi_abi.h).
_ABI = {f"MPI_ABI_{c_type[len('MPI_') :]}": kind for kind, c_type in KINDS.items() if kind != "status"}

#: The kind of each structure that a C handle points at, by its tag (Open MPI v4.1.4, v5.0.7: ompi/include/mpi.h.in;
#: MPICH v3.4 to v5.0: src/include/mpi.h.in, where only files are pointers).
STRUCTURES: Dict[str, str] = {
    **_ABI,
    "ADIOI_FileD": "file",
    "ompi_communicator_t": "comm",
    "ompi_datatype_t": "datatype",
    "ompi_errhandler_t": "errhandler",
    "ompi_file_t": "file",
    "ompi_group_t": "group",
    "ompi_info_t": "info",
    "ompi_instance_t": "session",
    "ompi_message_t": "message",
    "ompi_op_t": "op",
    "ompi_request_t": "request",
    "ompi_win_t": "win",
}

#: The structure that Open MPI's MPI_Status is (the same file): no handle, its bytes are all there is.
STATUS_STRUCTURE = "ompi_status_public_t"

#: How many bytes handles have that are integers: MPICH's (src/include/mpi.h.in).
INTEGER_BYTES = 4

#: Integers of mpi.h that are no handles.
INTEGERS = ("MPI_Aint", "MPI_Offset")


class Wrapper(NamedTuple):
    """How a value holds a handle."""

    kind: str
    #: The member that holds it; empty where the value itself is it. Fortran's is the only one,
    #: in the compiler's letter case.
    member: str
    #: Whether the member is the Fortran integer rather than the C handle.
    fortran: bool


def _classes(kind: str, *names: str) -> Dict[str, Wrapper]:
    # The member's name follows that of the kind's type in C.
    return {f"MPI::{name}": Wrapper(kind, KINDS[kind].lower(), False) for name in names}


#: Classes of MPI's bindings for C++, derived ones too (Open MPI v4.1.4: ompi/mpi/cxx/*.h; v5.0 has none).
CLASSES: Dict[str, Wrapper] = {
    **_classes("comm", "Comm", "Comm_Null", "Intracomm", "Intercomm", "Cartcomm", "Graphcomm"),
    **_classes("datatype", "Datatype"),
    **_classes("errhandler", "Errhandler"),
    **_classes("file", "File"),
    **_classes("group", "Group"),
    **_classes("info", "Info"),
    **_classes("op", "Op"),
    **_classes("request", "Request", "Prequest", "Grequest"),
    **_classes("status", "Status"),
    **_classes("win", "Win"),
}

#: The only member of the handles of ``mpi_f08`` (Open MPI v4.1.4, v5.0.7:
#: ompi/mpi/fortran/use-mpi-f08/mod/mpi-f08-types.F90).
F08_MEMBER = "mpi_val"

#: The members of TYPE(MPI_Status) in their order (the same file); they lie in memory as those of the structure in C do.
F08_STATUS = ("mpi_source", "mpi_tag", "mpi_error")

#: The same of MPICH in C and Fortran (v3.4 to v5.0: src/include/mpi.h.in, src/binding/fortran/use_mpi_f08).
MPICH_STATUS = ("count_lo", "count_hi_and_cancelled", *F08_STATUS)

_F08: Dict[str, str] = {c_type.lower(): kind for kind, c_type in KINDS.items()}


def of_typedef(name: Optional[str], members: Callable[[], Sequence[str]]) -> Optional[Wrapper]:
    """What a structure without a tag is by the name of its typedef: the ABI of MPI 5 has the status so; ``members`` as
    for :func:`of_structure`.
    """
    if TYPEDEFS.get(name or "") != "status":
        return None
    return Wrapper("status", "", False) if _is_status([member.lower() for member in members()]) else None


def _is_status(members: Sequence[str]) -> bool:
    return any(tuple(members[: len(known)]) == known for known in (F08_STATUS, MPICH_STATUS))


def of_pointer(tag: Optional[str]) -> Optional[str]:
    """The kind of handles that point at structures with this tag."""
    return STRUCTURES.get(tag.removeprefix("struct ")) if tag else None


def of_structure(name: Optional[str], members: Callable[[], Sequence[str]]) -> Optional[Wrapper]:
    """What a structure or class of this name is that holds a handle; ``members`` gives the names of its own members,
    and is asked only where they matter.

    A status of C or Fortran is a wrapper without a member: the structure itself is it.
    """
    if not name:
        return None
    name = name.removeprefix("struct ").removeprefix("class ")
    if name == STATUS_STRUCTURE:
        return Wrapper("status", "", False)
    known = CLASSES.get(name)
    if known is not None:
        return known
    # Compilers of Fortran write names in lower or upper case (gfortran: mpi_comm). Names alone prove little: the
    # members must fit.
    kind = _F08.get(name.lower())
    if kind is None:
        return None
    own = [member.lower() for member in members()]
    if kind == "status":
        return Wrapper("status", "", False) if _is_status(own) else None
    return Wrapper(kind, F08_MEMBER, True) if own == [F08_MEMBER] else None
