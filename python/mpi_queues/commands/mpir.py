"""The MPIR process acquisition interface from the debugger's side: what a launcher's variables say, and what is
written into them. Names are those of the MPIR document (version 1.1) and of its first version (MPICH's attach.h)."""

from __future__ import annotations

import sys
from typing import Callable, Dict, List, Optional

from ..errors import UserError
from ..system import files
from .job_control import JobControl

BREAKPOINT = "MPIR_Breakpoint"
#: Values of MPIR_debug_state.
SPAWNED, ABORTING = 1, 2

#: MPIR_executable_path and MPIR_attach_fifo are of 256 bytes, MPIR_server_arguments of 1024 (MPIR 1.1).
_TEXT, _ARGUMENTS = 256, 1024
#: The longest abort string that is shown.
MAX_STRING = 4096
_INT = 4

#: What only counts by being there.
FLAGS: Dict[str, str] = {
    "MPIR_i_am_starter": "the launcher is not itself a rank",
    "MPIR_partial_attach_ok": "the ranks go on once the launcher does, whether a debugger has them or not",
    "MPIR_acquired_pre_main": "ranks were held before their main",
    "MPIR_force_to_main": "the debugger is asked to show main",
    "MPIR_ignore_queues": "the debugger is asked not to show message queues",
    "MPIR_ignore_queue": "the debugger is asked not to show message queues",
    "MPIR_Ignore_queues": "the debugger is asked not to show message queues",
}
#: Spellings: of MPIR 1.1, of older documents, and of Open MPI's own plug-in (ompi/debuggers/ompi_msgq_dll.c).
IGNORE_QUEUES = ("MPIR_ignore_queues", "MPIR_ignore_queue", "MPIR_Ignore_queues")


def number(jobs: JobControl, pid: int, name: str) -> Optional[int]:
    """The value of a variable of C's type int, None where there is none of that name."""
    address = jobs.symbol(pid, name)
    return None if address is None else int.from_bytes(jobs.read(pid, address, _INT), sys.byteorder, signed=True)


def _set(jobs: JobControl, pid: int, name: str, value: int) -> bool:
    address = jobs.symbol(pid, name)
    if address is None:
        return False
    jobs.write(pid, address, value.to_bytes(_INT, sys.byteorder))
    return True


def state(jobs: JobControl, pid: int) -> Optional[int]:
    """MPIR_debug_state; None where it cannot be read."""
    try:
        return number(jobs, pid, "MPIR_debug_state")
    except UserError:
        return None


def set_being_debugged(jobs: JobControl, pid: int, on: bool) -> bool:
    """Tells a process that a debugger has it, or has it no longer; False where it does not ask for that.

    Raises:
        UserError: where its memory cannot be written to.
    """
    return _set(jobs, pid, "MPIR_being_debugged", int(on))


def open_gate(jobs: JobControl, pid: int) -> bool:
    """Sets MPIR_debug_gate, for which the rank waits; False where it has none.

    Raises:
        UserError: where its memory cannot be written to.
    """
    return _set(jobs, pid, "MPIR_debug_gate", 1)


def has(jobs: JobControl, pid: int, name: str) -> bool:
    """Whether a process has a symbol that counts by being there."""
    return jobs.symbol(pid, name) is not None


def event(jobs: JobControl, pid: int) -> Optional[str]:
    """Why a launcher stands at MPIR_Breakpoint; None where that is nothing to stop for."""
    value = state(jobs, pid)
    if value == ABORTING:
        return aborted("MPIR_DEBUG_ABORTING", lambda: abort_string(jobs, pid))
    if value == SPAWNED:
        return "The launcher has started processes (MPIR_DEBUG_SPAWNED); to attach to the new ones, type: mpi attach"
    return None


def aborted(state_name: str, reason: Callable[[], Optional[str]]) -> str:
    """That the job ends, and why, where ``reason`` can tell."""
    try:
        text = reason()
    except UserError:
        text = None
    said = "; it gives no reason" if not text else f": {text}"
    return f"The job is being aborted ({state_name}){said}"


def abort_string(jobs: JobControl, pid: int) -> Optional[str]:
    """MPIR_debug_abort_string: why the job ends; None where there is none.

    Raises:
        UserError: where it cannot be read.
    """
    variable = jobs.symbol(pid, "MPIR_debug_abort_string")
    if variable is None:
        return None
    width = pointer_size(pid)
    address = int.from_bytes(jobs.read(pid, variable, width), sys.byteorder)
    return string(jobs, pid, address, MAX_STRING) if address else None


def pointer_size(pid: int) -> int:
    """By the ELF class of the program (elf.h, EI_CLASS), 8 where that cannot be read."""
    try:
        with files.opened(f"/proc/{pid}/exe") as file:
            return 4 if file.read(5)[4:] == b"\x01" else 8
    except OSError:
        return 8


def string(jobs: JobControl, pid: int, address: int, limit: int) -> str:
    """Text of at most so many bytes as it can be shown.

    Raises:
        UserError: where nothing of it can be read.
    """
    return _printable(_bytes(jobs, pid, address, limit).split(b"\0", 1)[0])


def _bytes(jobs: JobControl, pid: int, address: int, limit: int) -> bytes:
    """Up to ``limit`` bytes, as far as memory is readable."""
    found = b""
    while len(found) < limit:
        # Not over the end of a page: what follows it may not be there.
        length = min(limit - len(found), 256 - (address + len(found)) % 256)
        try:
            piece = jobs.read(pid, address + len(found), length)
        except UserError:
            if not found:
                raise
            break
        found += piece
        if b"\0" in piece:
            break
    return found


def _printable(content: bytes) -> str:
    text = content.decode("utf-8", "replace")
    return "".join(char if char.isprintable() else " " for char in text).strip()


def attach_fifo(jobs: JobControl, pid: int) -> Optional[str]:
    """MPIR_attach_fifo: to what file a debugger that attaches writes a byte of 1; None where there is none.

    Raises:
        UserError: where it cannot be read.
    """
    address = jobs.symbol(pid, "MPIR_attach_fifo")
    return (string(jobs, pid, address, _TEXT) or None) if address is not None else None


def facts(jobs: JobControl, pid: int) -> Dict[str, str]:
    """What the variables of a launcher say, by name, for people."""
    found: Dict[str, str] = {}
    states = {0: "MPIR_NULL", SPAWNED: "MPIR_DEBUG_SPAWNED", ABORTING: "MPIR_DEBUG_ABORTING"}
    for name in ("MPIR_debug_state", "MPIR_being_debugged", "MPIR_proctable_size"):
        value = number(jobs, pid, name)
        if value is not None:
            found[name] = states.get(value, str(value)) if name == "MPIR_debug_state" else str(value)
    text = abort_string(jobs, pid)
    if text:
        found["MPIR_debug_abort_string"] = text
    for name in ("MPIR_attach_fifo", "MPIR_executable_path"):
        address = jobs.symbol(pid, name)
        if address is not None:
            found[name] = string(jobs, pid, address, _TEXT) or "(empty)"
    address = jobs.symbol(pid, "MPIR_server_arguments")
    if address is not None:
        found["MPIR_server_arguments"] = " ".join(_arguments(jobs, pid, address)) or "(empty)"
    found.update({name: meaning for name, meaning in FLAGS.items() if has(jobs, pid, name)})
    return found


def _arguments(jobs: JobControl, pid: int, address: int) -> List[str]:
    """Strings one after the other, ended by an empty one (MPIR 1.1, MPIR_server_arguments)."""
    content = b""
    for start in range(0, _ARGUMENTS, 256):
        try:
            content += jobs.read(pid, address + start, 256)
        except UserError:
            break
    words = content.split(b"\0\0", 1)[0].split(b"\0")
    return [_printable(word) for word in words if word]


def asking_to_ignore_queues(jobs: JobControl) -> Optional[str]:
    """What to know where a launcher, or a rank, asks debuggers not to show message queues; None where none does."""
    for one in jobs.held():
        # In the launcher by MPIR 1.1; Open MPI's plug-in looks for the other spelling in the rank.
        for name in IGNORE_QUEUES if one.launcher else IGNORE_QUEUES[-1:]:
            try:
                found = has(jobs, one.pid, name)
            except UserError:
                break
            if found:
                who = one.name or one.label
                return f"{who} asks debuggers to leave message queues alone ({name}): what they show may mean nothing"
    return None


def not_held(name: str) -> str:
    """What to know of ranks whose launcher does not speak MPIR."""
    return (
        f"{name} does not have the MPIR interface (no symbol {BREAKPOINT}): its ranks were not held at their start, "
        "and are where they were when all of them existed"
    )


def not_watched(name: str) -> str:
    """What to know of a launcher that was attached to and does not speak MPIR."""
    return f"{name} does not have the MPIR interface (no symbol {BREAKPOINT}): it will not report MPI_Abort"
