"""The MPI2DD interface (draft of January 2007) from the debugger's side: why a process calls MPI2DD_breakpoint, and the
bits that are set for it in its ``MPI2DD_info``. Names are those of the draft."""

from __future__ import annotations

import sys
from typing import Dict, List, Optional

from ..commands.job_control import JobControl
from ..commands.mpir import MAX_STRING, aborted, pointer_size, string
from ..errors import UserError

BREAKPOINT = "MPI2DD_breakpoint"
_INFO = "MPI2DD_info"

#: magic, version and variant; what differs is not of this interface, and nothing is written into it.
_HEAD = b"MPI2\x7f\x01\x01"
#: Fields have the same places in both widths up to the first address: debug_state, debugger_flags, mpi_flags.
_STATE, _FLAGS, _MPI_FLAGS, _ADDRESSES = 7, 8, 12, 16
#: abort_string is the fifth address.
_ABORT_STRING = 4

#: Values of debug_state.
START, ABORT = 1, 8
#: Bits of debugger_flags.
GATE, BEING_DEBUGGED, REQUEST_DIRECTORY_EVENTS = 0x01, 0x02, 0x04
_I_AM_METADIR, _I_AM_DIR = 0x01, 0x02

_STATES: Dict[int, str] = {
    START: "The job has started its processes (MPI2DD_DEBUG_START)",
    2: "Processes were spawned (MPI2DD_DEBUG_SPAWN)",
    3: "Processes of another job were connected to (MPI2DD_DEBUG_CONNECT)",
    4: "A connection of another job was accepted (MPI2DD_DEBUG_ACCEPT)",
    5: "Another job was joined (MPI2DD_DEBUG_JOIN)",
    6: "A directory of processes has changed (MPI2DD_DEBUG_DIRECTORY_CHANGED)",
    7: "A directory of directories has changed (MPI2DD_DEBUG_METADIRECTORY_CHANGED)",
}

#: Bits of mpi_flags that mean what a symbol of MPIR means by being there.
_AS_MPIR: Dict[int, str] = {
    0x04: "MPIR_i_am_starter",
    0x08: "MPIR_force_to_main",
    0x10: "MPIR_ignore_queues",
    0x20: "MPIR_acquired_pre_main",
    0x40: "MPIR_partial_attach_ok",
}


def _info(jobs: JobControl, pid: int) -> Optional[int]:
    """Where its ``MPI2DD_info`` is; None where it has none that is filled."""
    address = jobs.symbol(pid, _INFO)
    if address is None:
        return None
    try:
        return address if jobs.read(pid, address, len(_HEAD)) == _HEAD else None
    except UserError:
        return None


def _number(jobs: JobControl, pid: int, address: int) -> int:
    # The processes of a debugger on this machine have its byte order.
    return int.from_bytes(jobs.read(pid, address, 4), sys.byteorder)


def _change(jobs: JobControl, pid: int, info: int, bits: int, on: bool) -> None:
    """Sets or clears bits of debugger_flags. The others are left as they are."""
    before = _number(jobs, pid, info + _FLAGS)
    after = before | bits if on else before & ~bits
    if after != before:
        jobs.write(pid, info + _FLAGS, after.to_bytes(4, sys.byteorder))


def set_being_debugged(jobs: JobControl, pid: int, on: bool) -> bool:
    """Tells a starter that a debugger has it, or has it no longer; a directory also that its changes are asked for.
    False where it does not have the interface.

    Raises:
        UserError: where its memory cannot be written to.
    """
    info = _info(jobs, pid)
    if info is None:
        return False
    tells = _number(jobs, pid, info + _MPI_FLAGS) & (_I_AM_DIR | _I_AM_METADIR)
    _change(jobs, pid, info, BEING_DEBUGGED | (REQUEST_DIRECTORY_EVENTS if tells or not on else 0), on)
    return True


def open_gate(jobs: JobControl, pid: int) -> bool:
    """Tells a rank, which may wait for that, that the debugger has it; False where it does not have the interface.

    Raises:
        UserError: where its memory cannot be written to.
    """
    info = _info(jobs, pid)
    if info is None:
        return False
    _change(jobs, pid, info, GATE, True)
    return True


def state(jobs: JobControl, pid: int) -> Optional[int]:
    """debug_state; None where it cannot be read."""
    info = _info(jobs, pid)
    try:
        return None if info is None else jobs.read(pid, info + _STATE, 1)[0]
    except UserError:
        return None


def event(jobs: JobControl, pid: int) -> Optional[str]:
    """Why a process stands at MPI2DD_breakpoint; None where it does not say."""
    value = state(jobs, pid)
    if value == ABORT:
        return aborted("MPI2DD_DEBUG_ABORT", lambda: _abort_string(jobs, pid))
    said_of = _STATES.get(value or 0)
    return None if said_of is None else f"{said_of}; to attach to the new processes, type: mpi attach"


def _abort_string(jobs: JobControl, pid: int) -> Optional[str]:
    info = _info(jobs, pid)
    if info is None:
        return None
    width = pointer_size(pid)
    field = jobs.read(pid, info + _ADDRESSES + _ABORT_STRING * width, width)
    address = int.from_bytes(field, sys.byteorder)
    return string(jobs, pid, address, MAX_STRING) if address else None


def flags(jobs: JobControl, pid: int) -> List[str]:
    """Names of the symbols of MPIR that mean what its mpi_flags say.

    Raises:
        UserError: where they cannot be read.
    """
    info = _info(jobs, pid)
    bits = 0 if info is None else _number(jobs, pid, info + _MPI_FLAGS)
    return [name for bit, name in _AS_MPIR.items() if bits & bit]


def facts(jobs: JobControl, pid: int) -> Dict[str, str]:
    """What ``MPI2DD_info`` of a launcher says, by field, for people.

    Raises:
        UserError: where it cannot be read.
    """
    info = _info(jobs, pid)
    if info is None:
        return {}
    found = {
        "MPI2DD_info.debug_state": str(state(jobs, pid)),
        "MPI2DD_info.debugger_flags": hex(_number(jobs, pid, info + _FLAGS)),
        "MPI2DD_info.mpi_flags": hex(_number(jobs, pid, info + _MPI_FLAGS)),
    }
    text = _abort_string(jobs, pid)
    return {**found, **({"MPI2DD_info.abort_string": text} if text else {})}
