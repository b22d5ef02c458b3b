"""The system call that a thread is in, from its registers or from ``/proc``.

What a thread waits for follows from it whatever the C library calls its functions. ``crates/model/src/call.rs`` has the
meaning.
"""

from __future__ import annotations

from typing import Callable, Dict, Mapping, Optional, Tuple

from .base import SystemCallDict

#: Calls in which a thread may wait, by the number that the processor's kernel has for them (arch/x86/entry/syscalls/
#: syscall_64.tbl and include/uapi/asm-generic/unistd.h of Linux 6.12). Others go by their number.
_NAMES: Mapping[str, Mapping[int, str]] = {
    "x86_64": {
        0: "read",
        1: "write",
        7: "poll",
        16: "ioctl",
        17: "pread64",
        18: "pwrite64",
        19: "readv",
        20: "writev",
        23: "select",
        24: "sched_yield",
        34: "pause",
        35: "nanosleep",
        42: "connect",
        43: "accept",
        44: "sendto",
        45: "recvfrom",
        46: "sendmsg",
        47: "recvmsg",
        61: "wait4",
        65: "semop",
        69: "msgsnd",
        70: "msgrcv",
        72: "fcntl",
        73: "flock",
        74: "fsync",
        128: "rt_sigtimedwait",
        130: "rt_sigsuspend",
        202: "futex",
        208: "io_getevents",
        219: "restart_syscall",
        220: "semtimedop",
        230: "clock_nanosleep",
        232: "epoll_wait",
        247: "waitid",
        270: "pselect6",
        271: "ppoll",
        281: "epoll_pwait",
        288: "accept4",
        295: "preadv",
        299: "recvmmsg",
    },
    "aarch64": {
        22: "epoll_pwait",
        25: "fcntl",
        29: "ioctl",
        32: "flock",
        63: "read",
        64: "write",
        65: "readv",
        66: "writev",
        67: "pread64",
        68: "pwrite64",
        69: "preadv",
        72: "pselect6",
        73: "ppoll",
        82: "fsync",
        95: "waitid",
        98: "futex",
        101: "nanosleep",
        115: "clock_nanosleep",
        124: "sched_yield",
        128: "restart_syscall",
        133: "rt_sigsuspend",
        137: "rt_sigtimedwait",
        188: "msgrcv",
        189: "msgsnd",
        192: "semtimedop",
        193: "semop",
        202: "accept",
        203: "connect",
        206: "sendto",
        207: "recvfrom",
        211: "sendmsg",
        212: "recvmsg",
        242: "accept4",
        243: "recvmmsg",
        260: "wait4",
    },
}
#: The same on both.
_COMMON: Mapping[int, str] = {
    333: "io_pgetevents",
    426: "io_uring_enter",
    441: "epoll_pwait2",
    449: "futex_waitv",
    455: "futex_wait",
}

#: How `futex` waits (include/uapi/linux/futex.h): FUTEX_WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2. The
#: fourth argument is the time limit.
_FUTEX_WAITS = frozenset((0, 6, 9, 11, 13))
#: Without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME.
_FUTEX_OPERATION = 0x7F

#: What a call that was interrupted while it waited returns: EINTR, and inside the kernel ERESTARTSYS, ERESTARTNOINTR,
#: ERESTARTNOHAND, ERESTART_RESTARTBLOCK (include/linux/errno.h), by which a tracer sees that it will be begun anew.
_INTERRUPTED = frozenset((-4, -512, -513, -514, -516))

#: No call: the kernel was entered by an interrupt.
_NONE: SystemCallDict = {"name": None, "waits": False, "timed": False}

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
    if _signed(number) < 0:
        return _NONE
    found = (register("rsi") or 0, register("r10") or 0)
    return _call("x86_64", number, found, waits=_signed(result) in _INTERRUPTED)


def of_proc(pid: int, thread: int, machine: str, result: Optional[int] = None) -> Optional[SystemCallDict]:
    """The same by ``/proc/PID/task/TID/syscall``, for who may trace the process; None where that does not tell.

    ``result`` is the register in which x86-64 returns what a system call returns.
    """
    try:
        with open(f"/proc/{pid}/task/{thread}/syscall", encoding="ascii", errors="replace") as file:
            words = file.read(1024).split()
        if not words or words[0] == "running" or int(words[0]) < 0:
            return _NONE if words else None
        numbers = [int(word, 16) for word in words[1:7]]
        back = machine == "x86_64" and result is not None and _signed(result) not in _INTERRUPTED
        return _call(machine, int(words[0]), (numbers[1], numbers[3]), waits=not back)
    except (OSError, ValueError, IndexError):
        return None


def _call(machine: str, number: int, arguments: Tuple[int, int], *, waits: bool) -> SystemCallDict:
    names: Dict[int, str] = {**_COMMON, **_NAMES.get(machine, {})}
    name = names.get(number, f"system call {number}")
    timed = False
    if name == "futex":
        operation, limit = arguments
        waits = waits and (operation & _FUTEX_OPERATION) in _FUTEX_WAITS
        timed = limit != 0
    elif name == "restart_syscall":
        # After a stop nanosleep, poll and a futex with a time limit go on in it; a futex without one begins anew
        # as itself (the kernel's ERESTART_RESTARTBLOCK; kernel/futex, futex_wait).
        timed = True
    elif name in ("futex_wait", "futex_waitv"):
        # futex_wait(address, value, mask, flags, limit, clock), futex_waitv(waiters, number, flags, limit, clock): the
        # fifth argument is not at hand.
        timed = name == "futex_waitv" and arguments[1] != 0
    return {"name": name, "waits": waits, "timed": timed}


def _signed(value: int) -> int:
    """A register as a number with a sign; debuggers give it either way."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value
