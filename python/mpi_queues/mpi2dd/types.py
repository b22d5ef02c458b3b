"""What the core finds by the MPI2DD interface, as it comes from ``_native.mpi2dd``."""

from __future__ import annotations

from typing import List, Optional, Tuple, TypedDict


class TableDict(TypedDict):
    """Where a table is, and how many entries it says to have, which nothing has checked."""

    address: int
    size: int


class InfoDict(TypedDict):
    """``MPI2DD_info`` of one process. Names of flags and states are those of the draft without their prefix."""

    address: int
    pointer_width: int
    debug_state: int
    #: None for a number that the draft does not have.
    debug_state_name: Optional[str]
    debugger_flags: int
    debugger_flag_names: List[str]
    mpi_flags: int
    mpi_flag_names: List[str]
    dll_name_32: Optional[str]
    dll_name_64: Optional[str]
    #: The one of these that a program of our own width loads.
    dll_name: Optional[str]
    meta_host_name: Optional[str]
    meta_executable_name: Optional[str]
    meta_pid: int
    abort_string: Optional[str]
    proctable: TableDict
    directory: TableDict
    metadirectory: TableDict


class DirectoryDict(TypedDict):
    """A starter, directory or metadirectory; the first is the process asked for, whatever it is."""

    pid: int
    #: As a table says; None for the process asked for.
    host: Optional[str]
    executable: Optional[str]
    #: here, elsewhere, ended, another (the pid is that of another process), unknown.
    state: str
    #: None where it could not be read.
    info: Optional[InfoDict]


class SpawnDict(TypedDict):
    """Who spawned a world."""

    world: Optional[str]
    rank: int
    #: Place among the spawns of that process, from 0.
    sequence: int


class MemberDict(TypedDict):
    """One rank."""

    rank: Optional[int]
    pid: int
    host: Optional[str]
    executable: Optional[str]
    #: As of a directory.
    state: str
    #: Process id and host (None for this machine) of the process in whose table it stands.
    directory: Tuple[int, Optional[str]]
    problem: Optional[str]


class WorldDict(TypedDict):
    """One MPI_COMM_WORLD."""

    #: Its ``comm_world_id``; None for processes of which no table says it.
    id: Optional[str]
    #: Whether an entry says that a starter made it.
    started: bool
    #: More than one, or one beside ``started``, contradict each other.
    spawns: List[SpawnDict]
    members: List[MemberDict]


class Mpi2ddDict(TypedDict):
    """A job as its directories tell it."""

    #: Of the process asked for.
    info: InfoDict
    directories: List[DirectoryDict]
    worlds: List[WorldDict]
    #: In sentences.
    problems: List[str]
