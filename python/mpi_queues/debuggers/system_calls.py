"""The system call that a thread is in, from its registers or from ``/proc``: ``crates/calls/src/system_calls.rs`` says
what they mean."""

from __future__ import annotations

from typing import Callable, Optional

from .. import _native
from .base import SystemCallDict

_MASK = (1 << 64) - 1

#: The value of a register, None where there is none of that name.
Register = Callable[[str], Optional[int]]


def of_registers(machine: str, register: Register) -> Optional[SystemCallDict]:
    """The system call of a stopped thread by the registers of its innermost frame; None where they do not tell.

    ``machine`` is what the debugger calls the processor.
    """
    if not any(name in machine for name in ("x86-64", "x86_64", "amd64")):
        return None
    number, result = register("orig_rax"), register("rax")
    if number is None or result is None:
        return None
    first, second, fourth = ((register(name) or 0) & _MASK for name in ("rdi", "rsi", "r10"))
    # Debuggers give registers with a sign or without.
    return _native.system_call_of_registers(number & _MASK, result & _MASK, (first, second, fourth))


def of_proc(pid: int, thread: int, machine: str, result: Optional[int] = None) -> Optional[SystemCallDict]:
    """The same by ``/proc/PID/task/TID/syscall``, for who may trace the process; None where that does not tell.

    ``result`` is the register in which x86-64 returns what a system call returns.
    """
    try:
        with open(f"/proc/{pid}/task/{thread}/syscall", encoding="ascii", errors="replace") as file:
            text = file.read(1024)
    except OSError:
        return None
    return _native.system_call_of_proc(machine, text, None if result is None else result & _MASK)
