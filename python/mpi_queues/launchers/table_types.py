"""What the core says of a launcher by the MPIR interface."""

from __future__ import annotations

from typing import Dict, List, Optional, TypedDict


class TableEntryDict(TypedDict):
    """One entry of MPIR_proctable."""

    #: As the launcher names it; None where the table has none or it cannot be read.
    host: Optional[str]
    #: As the launcher names it, often as the user typed it; None where the launcher leaves it out.
    executable: Optional[str]
    #: Process id on that host; None where the table has none that can be one.
    pid: Optional[int]
    #: What of it could not be read or cannot be true, in words; None where nothing.
    problem: Optional[str]


class ProcessTableDict(TypedDict):
    """The variables of the MPIR interface of one process. See ``_native.process_table``."""

    #: ``symbols``, or ``memory`` for that of a stripped launcher; None where there is no table: the problems say why.
    found: Optional[str]
    #: Who says where fields are: ``types of debug information`` or ``built-in layout``; None where no entry was read.
    layout: Optional[str]
    #: By rank in MPI_COMM_WORLD.
    entries: List[TableEntryDict]
    #: MPIR_proctable_size as it stands there.
    size: Optional[int]
    #: 0, 1 (MPIR_DEBUG_SPAWNED) or 2 (MPIR_DEBUG_ABORTING).
    debug_state: Optional[int]
    abort_string: Optional[str]
    #: The value of MPIR_being_debugged; None where there is no such variable.
    being_debugged: Optional[int]
    #: Whether there is MPIR_debug_gate. This and the next five are None where no symbol of the interface was found.
    has_gate: Optional[bool]
    #: MPIR_i_am_starter.
    is_starter: Optional[bool]
    acquired_pre_main: Optional[bool]
    force_to_main: Optional[bool]
    partial_attach_ok: Optional[bool]
    #: MPIR_ignore_queues or MPIR_ignore_queue.
    ignore_queues: Optional[bool]
    executable_path: Optional[str]
    server_arguments: List[str]
    attach_fifo: Optional[str]
    dll_name: Optional[str]
    #: Addresses of the variables and functions of the interface that the process has.
    symbols: Dict[str, int]
    #: What could not be read and what contradicts itself, in sentences.
    problems: List[str]
