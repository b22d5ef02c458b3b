"""Whether a process can be attached to, and how it is left as it was found."""

from __future__ import annotations

import errno
import os
import pathlib
import signal
import time
from typing import Dict, Optional

from ..errors import UserError
from . import advice, processes

_YAMA = pathlib.Path("/proc/sys/kernel/yama/ptrace_scope")


def check_readable(pid: int) -> None:
    """Sees to it that the process can be attached to.

    Raises:
        UserError: that names what stands in the way, and the next thing to type.
    """
    fields = processes.status(pid)
    if not fields:
        raise UserError(
            f"pid {pid}: no such process", help="to find the ranks of a job, type: pgrep -af PROGRAM", kind="no_process"
        )
    if pid == os.getpid():
        raise UserError(f"pid {pid}: this is mpi-queues itself", kind="no_process")
    leader = fields.get("Tgid", str(pid))
    if leader != str(pid):
        raise UserError(f"pid {pid}: a thread of the process {leader}", help=f"type: --pid {leader}", kind="no_process")
    if processes.has_ended(pid):
        parent = fields.get("PPid", "?")
        raise UserError(
            f"pid {pid}: a zombie: the process has ended and its parent {parent} has not waited for it",
            kind="no_process",
        )
    tracer = fields.get("TracerPid", "0")
    if tracer != "0":
        raise UserError(
            f"pid {pid}: already traced by pid {tracer} ({processes.name_of(int(tracer)) or 'not known'})",
            help="detach that debugger first, or type in it: mpi queues",
            kind="traced",
        )
    _check_permission(pid, fields)


def _check_permission(pid: int, fields: Dict[str, str]) -> None:
    try:
        # The kernel asks the same questions here as for attaching (ptrace(2), PTRACE_MODE_ATTACH).
        os.close(os.open(f"{processes.directory(pid)}/mem", os.O_RDONLY | os.O_CLOEXEC))
        return
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM):
            raise UserError(f"pid {pid}: cannot be read: {error.strerror}", kind="no_permission") from None
    owner = int(fields.get("Uid", "0").split()[1])
    me = os.geteuid()
    if owner != me and me != 0:
        raise UserError(
            f"pid {pid}: belongs to {processes.user_name(owner)}, and you are {processes.user_name(me)}",
            help=f"type: {advice.as_user(processes.login(owner))}",
            kind="no_permission",
        )
    scope = _yama_scope()
    if scope == 3:
        raise UserError(f"pid {pid}: attaching is switched off until the next boot: {_YAMA} is 3", kind="no_permission")
    if scope in (1, 2) and me != 0:
        raise UserError(
            f"pid {pid}: the kernel lets only root attach to a process that is not its child: {_YAMA} is {scope}",
            help=f"type: {advice.as_root('sysctl kernel.yama.ptrace_scope=0')} (until the next boot), or "
            + advice.with_rights(),
            kind="no_permission",
        )
    raise UserError(
        f"pid {pid}: the kernel refuses to let you attach (a set-user-id program, or a container without SYS_PTRACE)",
        help=advice.with_rights()
        if advice.is_root()
        else f"{advice.with_rights()}, or start the container with: --cap-add=SYS_PTRACE",
        kind="no_permission",
    )


def _yama_scope() -> int:
    try:
        return int(_YAMA.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0


def restore_state(pid: int, started: Optional[int], was_stopped: bool) -> None:
    """After a debugger could not attach: the process goes on, or stays stopped, as it was before.

    gdb sees to this itself; not where it failed between the kernel's attach and its own wait: the SIGSTOP of
    PTRACE_ATTACH then stops the process, perhaps only later, when the thread to which it was sent runs. Therefore it
    must be seen undisturbed several times.
    """
    needed = 5
    for _ in range(50):
        fields = processes.status(pid)
        if not fields or processes.start_time(pid) != started:
            return
        if fields.get("TracerPid", "0") != "0":
            # lldb's server lets go a moment after lldb has ended.
            time.sleep(0.01)
            continue
        now = processes.state(pid)
        if was_stopped and now in ("R", "S", "D"):
            processes.send(pid, signal.SIGSTOP)
        elif not was_stopped and now == "T":
            processes.send(pid, signal.SIGCONT)
        elif was_stopped or not _stop_pending(pid):
            needed -= 1
            if needed <= 0:
                return
        time.sleep(0.01)


def _stop_pending(pid: int) -> bool:
    """Whether a SIGSTOP waits for the process or for any of its threads: gdb attaches to each of them."""
    bit = 1 << (signal.SIGSTOP - 1)
    for thread in pathlib.Path(f"/proc/{pid}/task").glob("*/status"):
        fields = processes.status_of(thread)
        if any(int(fields.get(key, "0"), 16) & bit for key in ("SigPnd", "ShdPnd")):
            return True
    return False
