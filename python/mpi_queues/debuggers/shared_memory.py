"""The memory through which messages come to a process of this machine: what it shares with others.

MPI libraries write to it where messages move, and leave it alone while they look for some: the counters of queues
in it tell a loop of calls from one call that lasts, where the program has no counter of its own (as measured with Open
MPI's vader, MPICH's nemesis and UCX). MPICH's ch4 has rings of cells without a counter: with 5.0.2 a message that goes
to and fro leaves one of about a hundred contents. So two looks may find the same by chance; ``watching`` looks often.
"""

from __future__ import annotations

import pathlib
from typing import Dict, List, NamedTuple, Tuple

from ..system import mappings

#: So much of each mapping, and of all together, is looked at (bytes): the queues lie at the beginning, data behind.
_OF_EACH = 512 << 10
_OF_ALL = 8 << 20

#: Devices are no memory; these are.
_NO_DEVICES = (b"/dev/shm/", b"/dev/zero")


#: Device, inode, and offset within it: equal for all who share it.
Place = Tuple[str, int, int]


class Piece(NamedTuple):
    """A part of the memory of a process that it shares."""

    address: int
    #: In bytes.
    length: int
    what: Place


def message_memory(pid: int) -> List[Piece]:
    """Segments that are known to be other processes' own are left out."""
    makers = _makers()
    found: List[Piece] = []
    for one in mappings.shared_of_process(pid):
        if one.name.startswith((b"/dev/", b"anon_inode:")) and not one.name.startswith(_NO_DEVICES):
            continue
        # A segment of System V: its number is where other files have their inode.
        if one.name.startswith(b"/SYSV") and makers.get(one.inode, pid) != pid:
            continue
        found.append(Piece(one.start, min(one.length, _OF_EACH), (one.device, one.inode, one.offset)))
    # The smaller ones are queues.
    found.sort(key=lambda piece: piece.length)
    left, chosen = _OF_ALL, []
    for piece in found:
        if piece.length > left:
            break
        left -= piece.length
        chosen.append(piece)
    return chosen


def _makers() -> Dict[int, int]:
    """Who made each segment of System V (Documentation: proc(5), /proc/sysvipc/shm)."""
    try:
        lines = pathlib.Path("/proc/sysvipc/shm").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return {}
    rows = [line.split() for line in lines[1:]]
    return {int(row[1]): int(row[4]) for row in rows if len(row) > 4 and row[1].isdigit() and row[4].isdigit()}
