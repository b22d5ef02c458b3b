"""Facts about live processes of this machine from /proc, and why one cannot be read."""

from __future__ import annotations

import contextlib
import errno
import os
import pathlib
import pwd
import signal
import struct
import time
from typing import AnyStr, Dict, List, Optional, Tuple

from ..errors import UserError
from . import advice

#: The entries of the auxiliary vector that name the program headers (Linux, include/uapi/linux/auxvec.h).
AT_PHDR = 3
AT_PHNUM = 5

#: An environment larger than this is not searched.
_MAX_ENVIRONMENT = 4 << 20

_YAMA = pathlib.Path("/proc/sys/kernel/yama/ptrace_scope")


def status(pid: int) -> Dict[str, str]:
    """The fields of /proc/PID/status; empty where there is no such process."""
    return _status_of(pathlib.Path(f"/proc/{pid}/status"))


def _status_of(file: pathlib.Path) -> Dict[str, str]:
    try:
        text = file.read_bytes().decode(errors="replace")
    except OSError:
        return {}
    return status_fields(text)


def lines(text: AnyStr) -> List[AnyStr]:
    """The lines of a file of the kernel's, in which names may have every character but the newline.

    Both ``splitlines`` and files that are opened as text take others, such as a carriage return, for ends of lines too,
    and what a name has behind one for a line of the kernel's.
    """
    return text.split("\n" if isinstance(text, str) else b"\n")


def status_fields(text: str) -> Dict[str, str]:
    """The fields of a process's status (proc(5)), by their names."""
    fields: Dict[str, str] = {}
    for line in lines(text):
        key, _, value = line.partition(":")
        fields[key] = value.strip()
    return fields


def state(pid: int) -> str:
    """The state letter of a process (R, S, D, T, t, Z, X); empty where there is none."""
    return status(pid).get("State", "")[:1]


#: The kernel's letters of states in words (Linux, fs/proc/array.c).
STATES = {
    "R": "running",
    "S": "sleeping",
    "I": "sleeping",
    "D": "waiting",
    "T": "stopped",
    "t": "traced",
    "Z": "zombie",
    "X": "ended",
    "x": "ended",
}


def state_word(pid: int) -> str:
    """The state of a process in a word; ``ended`` where there is none."""
    letter = state(pid)
    return STATES.get(letter, "unknown") if letter else "ended"


def start_time(pid: int) -> Optional[int]:
    """When the process started, in clock ticks: with the pid this names a process, the pid alone does not."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_bytes()
        # The command name in parentheses may hold anything, also a closing parenthesis.
        return int(stat.rpartition(b")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None


def active_time(pid: int) -> Optional[float]:
    """For how long threads of a process have had a processor or waited for one, in seconds: neither grows while a
    debugger holds it, nor while it sleeps. None where the kernel does not tell."""
    times = _times(pid)
    return None if times is None else sum(times)


def run_time(pid: int) -> Optional[float]:
    """For how long threads of a process have had a processor, in seconds. None where the kernel does not tell."""
    times = _times(pid)
    return None if times is None else times[0]


def _times(pid: int) -> Optional[Tuple[float, float]]:
    """For how long threads of a process have had a processor and have waited for one, in seconds."""
    total = [0, 0]
    try:
        for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
            # Both in nanoseconds (Linux, Documentation/scheduler/sched-stats.rst).
            running, ready = (thread / "schedstat").read_text(encoding="ascii").split()[:2]
            total[0] += int(running)
            total[1] += int(ready)
    except (OSError, ValueError):
        return None
    return total[0] / 1e9, total[1] / 1e9


def wants_processor(pid: int) -> bool:
    """Whether a thread of a process has a processor or waits for one."""
    try:
        tasks = list(pathlib.Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return False
    for task in tasks:
        with contextlib.suppress(OSError, IndexError):
            # The command name in parentheses may hold anything, also a closing parenthesis.
            if (task / "stat").read_bytes().rpartition(b")")[2].split()[0] == b"R":
                return True
    return False


def name_of(pid: int) -> str:
    """The short name of a process for messages."""
    name = status(pid).get("Name", "")
    return "".join(char if char.isprintable() else "?" for char in name)


def check_readable(pid: int) -> None:
    """Sees to it that the process can be attached to.

    Raises:
        UserError: that names what stands in the way, and the next thing to type.
    """
    fields = status(pid)
    if not fields:
        raise UserError(
            f"pid {pid}: no such process", help="to find the ranks of a job, type: pgrep -af PROGRAM", kind="no_process"
        )
    if pid == os.getpid():
        raise UserError(f"pid {pid}: this is mpi-queues itself", kind="no_process")
    leader = fields.get("Tgid", str(pid))
    if leader != str(pid):
        raise UserError(f"pid {pid}: a thread of the process {leader}", help=f"type: --pid {leader}", kind="no_process")
    if fields.get("State", "")[:1] in ("Z", "X"):
        parent = fields.get("PPid", "?")
        raise UserError(
            f"pid {pid}: a zombie: the process has ended and its parent {parent} has not waited for it",
            kind="no_process",
        )
    tracer = fields.get("TracerPid", "0")
    if tracer != "0":
        raise UserError(
            f"pid {pid}: already traced by pid {tracer} ({name_of(int(tracer)) or 'not known'})",
            help="detach that debugger first, or type in it: mpi queues",
            kind="traced",
        )
    _check_permission(pid, fields)


def _check_permission(pid: int, fields: Dict[str, str]) -> None:
    try:
        # The kernel asks the same questions here as for attaching (ptrace(2), PTRACE_MODE_ATTACH).
        os.close(os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC))
        return
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM):
            raise UserError(f"pid {pid}: cannot be read: {error.strerror}", kind="no_permission") from None
    owner = int(fields.get("Uid", "0").split()[1])
    me = os.geteuid()
    if owner != me and me != 0:
        raise UserError(
            f"pid {pid}: belongs to {user_name(owner)}, and you are {user_name(me)}",
            help=f"type: {advice.as_user(_login(owner), 'mpi-queues …')}",
            kind="no_permission",
        )
    scope = _yama_scope()
    if scope == 3:
        raise UserError(f"pid {pid}: attaching is switched off until the next boot: {_YAMA} is 3", kind="no_permission")
    if scope in (1, 2) and me != 0:
        raise UserError(
            f"pid {pid}: the kernel lets only root attach to a process that is not its child: {_YAMA} is {scope}",
            help=f"type: {advice.as_root('sysctl kernel.yama.ptrace_scope=0')} (until the next boot), or "
            + advice.more_rights(),
            kind="no_permission",
        )
    raise UserError(
        f"pid {pid}: the kernel refuses to let you attach (a set-user-id program, or a container without SYS_PTRACE)",
        help=advice.more_rights()
        if advice.is_root()
        else f"{advice.more_rights()}, or start the container with: --cap-add=SYS_PTRACE",
        kind="no_permission",
    )


def _yama_scope() -> int:
    try:
        return int(_YAMA.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0


def _login(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"#{uid}"


def user_name(uid: int) -> str:
    """A user for messages."""
    login = _login(uid)
    return f"uid {uid}" if login.startswith("#") else f"{login} (uid {uid})"


def restore_state(pid: int, started: Optional[int], was_stopped: bool, *, killed: bool) -> None:
    """After a debugger has ended: the process goes on, or stays stopped, as it was before.

    gdb sees to this itself; not where it was killed between the kernel's attach and its own wait: the SIGSTOP of
    PTRACE_ATTACH then stops the process, perhaps only later, when the thread to which it was sent runs. Therefore a
    process whose debugger was killed must be seen undisturbed several times.
    """
    needed = 5 if killed else 1
    for _ in range(50):
        fields = status(pid)
        if not fields or start_time(pid) != started:
            return
        if fields.get("TracerPid", "0") != "0":
            # lldb's server lets go a moment after lldb has ended.
            time.sleep(0.01)
            continue
        now = fields.get("State", "")[:1]
        if was_stopped and now in ("R", "S", "D"):
            send(pid, signal.SIGSTOP)
        elif not was_stopped and now == "T":
            send(pid, signal.SIGCONT)
        elif was_stopped or not _stop_pending(pid):
            needed -= 1
            if needed <= 0:
                return
        time.sleep(0.01)


def _stop_pending(pid: int) -> bool:
    """Whether a SIGSTOP waits for the process or for any of its threads: gdb attaches to each of them."""
    bit = 1 << (signal.SIGSTOP - 1)
    for thread in pathlib.Path(f"/proc/{pid}/task").glob("*/status"):
        fields = _status_of(thread)
        if any(int(fields.get(key, "0"), 16) & bit for key in ("SigPnd", "ShdPnd")):
            return True
    return False


def in_session(leader: int) -> List[int]:
    """The living processes of a session other than its leader."""
    found: List[int] = []
    for name in os.listdir("/proc"):
        if not name.isdecimal() or int(name) == leader:
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):
            # The command name in parentheses may hold anything, also a closing parenthesis.
            fields = pathlib.Path(f"/proc/{name}/stat").read_bytes().rpartition(b")")[2].split()
            if int(fields[3]) == leader and fields[0] not in (b"Z", b"X"):
                found.append(int(name))
    return found


def send(pid: int, number: signal.Signals) -> bool:
    """Sends a signal; False where the process is gone, or no longer ours."""
    try:
        os.kill(pid, number)
    except OSError:
        return False
    return True


def free_memory() -> int:
    """Bytes that programs can still be given without swapping (proc(5), MemAvailable); 0 where that is not told."""
    try:
        text = pathlib.Path("/proc/meminfo").read_bytes().decode(errors="replace")
    except OSError:
        return 0
    words = status_fields(text).get("MemAvailable", "").split()
    return int(words[0]) << 10 if words and words[0].isdecimal() else 0


def program_headers(pid: int, width: int, byte_order: str) -> Optional[Tuple[int, int]]:
    """Address and number of the executable's program headers from /proc/PID/auxv; None where that cannot be read.

    ``width`` is that of a pointer in bytes.
    """
    try:
        with pathlib.Path(f"/proc/{pid}/auxv").open("rb") as file:
            content = file.read(4096)
    except OSError:
        return None
    order = "<" if byte_order == "little" else ">"
    pair = struct.Struct(order + ("QQ" if width == 8 else "II"))
    usable = len(content) - len(content) % pair.size
    entries: Dict[int, int] = dict(pair.iter_unpack(content[:usable]))
    headers, count = entries.get(AT_PHDR), entries.get(AT_PHNUM)
    return (headers, count) if headers and count else None


def environment(pid: int, name: str) -> Optional[str]:
    """A variable of a process's initial environment, None where it is not set or cannot be read."""
    wanted = os.fsencode(name) + b"="
    try:
        with pathlib.Path(f"/proc/{pid}/environ").open("rb") as file:
            content = file.read(_MAX_ENVIRONMENT)
    except OSError:
        return None
    for entry in content.split(b"\0"):
        if entry.startswith(wanted):
            return entry[len(wanted) :].decode("utf-8", "backslashreplace")
    return None
