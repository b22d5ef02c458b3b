"""The words of the printers around what the core says of a handle: the same in every debugger."""

from __future__ import annotations

from typing import Optional

from ..errors import UserError

#: Why nothing can be said of any handle of a process, by the kind of the core's error. It stands at each variable.
_REASONS = {
    "finalized": "MPI is finalised",
    "gone": "the process has ended",
    "no_layout": "no layout fits this MPI; type: mpi info",
    "no_process": "no process",
    "not_initialized": "MPI is not initialised",
    "not_mpi": "no MPI library is loaded",
    "running": "the process is running",
}

#: Kinds of errors that hold for every handle until the process runs or changes.
LASTING = frozenset({"finalized", "no_layout", "not_initialized", "not_mpi", "unsupported_mpi"})

#: What a pointer into nowhere points at.
UNREADABLE = "memory that cannot be read"

#: A reason longer than this is cut.
_LONGEST = 100


def reason(error: UserError) -> Optional[str]:
    """Why a handle is shown as it lies in memory; None where this MPI's handles are not ours to explain."""
    if error.kind == "unsupported_mpi":
        return None
    known = _REASONS.get(error.kind)
    if known is not None:
        return known
    text = " ".join(str(error.args[0]).split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def with_reason(raw: str, why: Optional[str]) -> str:
    """A value as the debugger itself shows it, and why no more is known of it."""
    return f"{raw} ({why})" if why else raw


def pointed(address: int, shown: str) -> str:
    """A pointer to a handle."""
    return f"{address:#x} -> {shown}"


def address_integer(value: int, size: int) -> str:
    """An MPI_Aint of ``size`` bytes: decimal, and hexadecimal as an address is written."""
    return f"{value} ({value & ((1 << (8 * size)) - 1):#x})"
