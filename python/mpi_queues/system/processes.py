"""Facts about live processes of this machine from /proc."""

from __future__ import annotations

import contextlib
import functools
import os
import pathlib
import pwd
import signal
import struct
from typing import AnyStr, Dict, List, Optional, Tuple

from .. import _native

#: The entries of the auxiliary vector that name the program headers (Linux, include/uapi/linux/auxvec.h).
AT_PHDR = 3
AT_PHNUM = 5

#: An environment larger than this is not searched.
_MAX_ENVIRONMENT = 4 << 20


def status(pid: int) -> Dict[str, str]:
    """The fields of /proc/PID/status; empty where there is no such process."""
    return status_of(pathlib.Path(f"/proc/{pid}/status"))


def status_of(file: pathlib.Path) -> Dict[str, str]:
    """The fields of such a file, also of one thread's; empty where it cannot be read."""
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
    """The state letter of a process: R, S, D, T, t of a thread by which it lives, Z or X where all have ended; empty
    where there is none."""
    living = _native.living(pid)
    return living[1] if living is not None else status(pid).get("State", "")[:1]


def directory(pid: int) -> str:
    """Where ``/proc`` has the memory and the files of a process: under the number of a thread by which it lives."""
    living = _native.living(pid)
    return f"/proc/{pid if living is None else living[0]}"


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

#: Those of what has ended and was not waited for.
ENDED = ("Z", "X", "x")


def has_ended(pid: int) -> bool:
    """Whether nothing is left of a process but its entry, if that: it lives as long as one of its threads does."""
    return _native.living(pid) is None


def state_word(pid: int) -> str:
    """The state of a process in a word; ``ended`` where there is none."""
    return word_of(pid, state(pid))


def word_of(pid: int, letter: str) -> str:
    """The word for a process whose state has this letter; ``ended`` where it has none."""
    # What runs, as ranks do that poll, is not asked for.
    if letter in ("S", "D") and _is_frozen(pid):
        return "frozen"
    return STATES.get(letter, "unknown") if letter else "ended"


@functools.lru_cache(maxsize=1)
def _control_groups() -> Optional[pathlib.Path]:
    """Where control groups of the second version are mounted (proc(5), mountinfo)."""
    try:
        lines = pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    found = (line.split()[4] for line in lines if " - cgroup2 " in line)
    return next((pathlib.Path(point) for point in found), None)


def _is_frozen(pid: int) -> bool:
    """Whether the control group of a process is frozen (Linux, admin-guide/cgroup-v2.rst, cgroup.events)."""
    root = _control_groups()
    try:
        groups = pathlib.Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8", errors="replace").splitlines()
        group = next((line[3:] for line in groups if line.startswith("0::")), None)
        if root is None or group is None:
            return False
        return "frozen 1" in (root / group.lstrip("/") / "cgroup.events").read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return False


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


def known_without_rights(pid: int) -> str:
    """What the kernel tells anybody of a process, in words: its state, where in the kernel it waits, for how long it
    used a processor; empty where it tells nothing. It may be at something else in the next moment."""
    letter = state(pid)
    if not letter:
        return ""
    told = f"it is {STATES.get(letter, 'at something unknown')}"
    with contextlib.suppress(OSError):
        place = pathlib.Path(f"{directory(pid)}/wchan").read_text(encoding="ascii", errors="replace").strip()
        if place not in ("", "0"):
            told += f" (in the kernel's {place})"
    seconds = run_time(pid)
    return told if seconds is None else f"{told}, and used {seconds:.1f} s of CPU"


def wants_processor(pid: int) -> bool:
    """Whether a thread of a process has a processor or waits for one."""
    return _native.wants_processor(pid)


def name_of(pid: int) -> str:
    """The short name of a process for messages."""
    name = status(pid).get("Name", "")
    return "".join(char if char.isprintable() else "?" for char in name)


def owner(pid: int) -> Optional[int]:
    """The effective user of a process; None where there is none."""
    words = status(pid).get("Uid", "").split()
    return int(words[1]) if len(words) > 1 and words[1].isdecimal() else None


def login(uid: int) -> str:
    """The name under which a user logs in, ``#UID`` without one."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"#{uid}"


def user_name(uid: int) -> str:
    """A user for messages."""
    name = login(uid)
    return f"uid {uid}" if name.startswith("#") else f"{name} (uid {uid})"


def send(pid: int, number: signal.Signals) -> bool:
    """Sends a signal; False where the process is gone, or no longer ours."""
    try:
        os.kill(pid, number)
    except OSError:
        return False
    return True


def program_headers(pid: int, width: int, byte_order: str) -> Optional[Tuple[int, int]]:
    """Address and number of the executable's program headers from /proc/PID/auxv; None where that cannot be read.

    ``width`` is that of a pointer in bytes.
    """
    try:
        with pathlib.Path(f"{directory(pid)}/auxv").open("rb") as file:
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
        with pathlib.Path(f"{directory(pid)}/environ").open("rb") as file:
            content = file.read(_MAX_ENVIRONMENT)
    except OSError:
        return None
    for entry in content.split(b"\0"):
        if entry.startswith(wanted):
            return entry[len(wanted) :].decode("utf-8", "backslashreplace")
    return None
