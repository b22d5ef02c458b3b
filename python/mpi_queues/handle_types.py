"""The kinds of MPI handles, and the dictionaries in which the core tells what they mean."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, TypedDict

#: The type in C of each kind, by the kind's word.
KINDS: Dict[str, str] = {
    "comm": "MPI_Comm",
    "datatype": "MPI_Datatype",
    "errhandler": "MPI_Errhandler",
    "file": "MPI_File",
    "group": "MPI_Group",
    "info": "MPI_Info",
    "message": "MPI_Message",
    "op": "MPI_Op",
    "request": "MPI_Request",
    "session": "MPI_Session",
    "status": "MPI_Status",
    "win": "MPI_Win",
}


class HandleDict(TypedDict):
    """One handle and what it means; ``model::Handle`` in the core has the details."""

    kind: str
    handle: Optional[str]
    fortran: Optional[int]
    name: Optional[str]
    predefined: Optional[bool]
    freed: Optional[bool]
    #: ``live``, ``null``, ``freed``, ``invalid`` or ``unknown``.
    state: str
    detail: Optional[str]
    #: One line for people.
    summary: str
    #: By the names of docs/handles.md, in the order in which they are shown.
    facts: Dict[str, Any]
    #: Why facts are None.
    unknown: Dict[str, str]
    problems: List[str]


class HandleListDict(TypedDict):
    """The handles of one kind that a process has."""

    kind: str
    #: Whether these are all; ``detail`` says why not.
    complete: bool
    detail: Optional[str]
    handles: List[HandleDict]
