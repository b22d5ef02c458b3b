"""The memory through which messages come to a process of this machine: what it shares with others.

MPI libraries write to it where messages move, and leave it alone while they look for some: the counters of queues
in it tell a loop of calls from one call that lasts, where the program has no counter of its own (as measured with Open
MPI's vader, MPICH's nemesis and UCX).
"""

from __future__ import annotations

import pathlib
from typing import Dict, List, Tuple

#: So much of each mapping, and of all together, is looked at (bytes): the queues lie at the beginning, data behind.
_OF_EACH = 512 << 10
_OF_ALL = 8 << 20

#: Devices are no memory; these are.
_NO_DEVICES = ("/dev/shm/", "/dev/zero")


def message_memory(pid: int) -> List[Tuple[int, int]]:
    """Addresses and lengths; those of other processes' own segments are left out where it is known whose they are."""
    try:
        text = pathlib.Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="backslashreplace")
    except OSError:
        return []
    makers = _makers()
    found: List[Tuple[int, int]] = []
    for line in text.splitlines():
        words = line.split(maxsplit=5)
        if len(words) < 6 or words[1][1] != "w" or words[1][3] != "s":
            continue
        name = words[5]
        if name.startswith(("/dev/", "anon_inode:")) and not name.startswith(_NO_DEVICES):
            continue
        # A segment of System V: its number is where other files have their inode.
        if name.startswith("/SYSV") and makers.get(int(words[4]), pid) != pid:
            continue
        start, _, end = words[0].partition("-")
        found.append((int(start, 16), min(int(end, 16) - int(start, 16), _OF_EACH)))
    # The smaller ones are queues.
    found.sort(key=lambda piece: piece[1])
    left, chosen = _OF_ALL, []
    for address, length in found:
        if length > left:
            break
        left -= length
        chosen.append((address, length))
    return chosen


def _makers() -> Dict[int, int]:
    """Who made each segment of System V (Documentation: proc(5), /proc/sysvipc/shm)."""
    try:
        lines = pathlib.Path("/proc/sysvipc/shm").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return {}
    rows = [line.split() for line in lines[1:]]
    return {int(row[1]): int(row[4]) for row in rows if len(row) > 4 and row[1].isdigit() and row[4].isdigit()}
