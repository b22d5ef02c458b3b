"""What went through the TCP connections that processes of this machine have with one another, as the kernel counts it.

An MPI that counts no messages and sends them over TCP leaves nothing in shared memory where they move. Only connections
of which both ends are known count: what a process has to do with others, such as a monitor, is none of MPI's.

The kernel is asked by sock_diag(7); the structures are those of Linux, include/uapi/linux/inet_diag.h and tcp.h.
"""

from __future__ import annotations

import os
import socket
import struct
from typing import Dict, Iterable, Iterator, List, Mapping, Set, Tuple

#: Longer answers (some 100,000 connections) and more open files than these are not gone through.
_MOST_BYTES = 32 << 20
_MOST_FILES = 1 << 16
#: How long the kernel may take for a piece of its answer, in seconds.
_PATIENCE = 1.0

_SOCK_DIAG, _SOCK_DIAG_BY_FAMILY, _REQUEST_DUMP = 4, 20, 0x301
_ERROR, _DONE = 2, 3
#: Those that are open, also where the other side has closed (include/net/tcp_states.h).
_STATES = 1 << 1 | 1 << 8
#: INET_DIAG_INFO, and where its tcp_info has the bytes that were acknowledged and that have arrived (since Linux 4.1).
_INFO, _COUNTS = 2, struct.Struct("=120xQQ")
_HEADER = struct.Struct("=IHHII")
_MESSAGE = struct.Struct("=4x4s16s16s12x16xI")
_ATTRIBUTE = struct.Struct("=HH")

#: Bytes that were sent and acknowledged, and that have arrived.
Counts = Tuple[int, int]
#: Port and address of one end, then of the other.
_Ends = Tuple[bytes, bytes, bytes, bytes]


def counted(pids: Iterable[int]) -> Dict[int, Dict[int, Counts]]:
    """What has gone through each connection among these processes, by process and by the socket's inode.

    Nothing of processes that may not be looked into, or whose network is not ours.
    """
    owners = {pid: found for pid in pids if (found := _sockets(pid))}
    if len(owners) < 2:
        return {}
    wanted = set().union(*owners.values())
    known: Dict[int, Tuple[_Ends, Counts]] = {}
    for family in (socket.AF_INET, socket.AF_INET6):
        known.update((inode, (ends, counts)) for inode, ends, counts in _asked(family) if inode in wanted)
    all_ends = {ends for ends, _ in known.values()}
    among = {inode: counts for inode, (ends, counts) in known.items() if _other_way(ends) in all_ends}
    return {pid: {inode: among[inode] for inode in inodes if inode in among} for pid, inodes in owners.items()}


def moved(before: Mapping[int, Mapping[int, Counts]], after: Mapping[int, Mapping[int, Counts]]) -> Set[int]:
    """Those through whose connections something went between two counts."""
    return {
        pid
        for pid, counts in after.items()
        if any(before.get(pid, {}).get(inode, count) != count for inode, count in counts.items())
    }


def _other_way(ends: _Ends) -> _Ends:
    port, address, other_port, other_address = ends
    return other_port, other_address, port, address


def _sockets(pid: int) -> Set[int]:
    """The inodes of a process's sockets; none where they cannot be seen."""
    found: Set[int] = set()
    try:
        with os.scandir(f"/proc/{pid}/fd") as files:
            for number, file in enumerate(files):
                if number >= _MOST_FILES:
                    return set()
                try:
                    link = os.readlink(file.path)
                except OSError:
                    continue
                if link.startswith("socket:[") and link[8:-1].isdecimal():
                    found.add(int(link[8:-1]))
    except OSError:
        return set()
    return found


def _asked(family: int) -> Iterator[Tuple[int, _Ends, Counts]]:
    """Inode, ends and counts of each open connection; none where the kernel does not tell."""
    request = struct.pack("=BBBxI48x", family, socket.IPPROTO_TCP, 1 << (_INFO - 1), _STATES)
    head = _HEADER.pack(_HEADER.size + len(request), _SOCK_DIAG_BY_FAMILY, _REQUEST_DUMP, 1, 0)
    pieces: List[bytes] = []
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as kernel:
            kernel.settimeout(_PATIENCE)
            kernel.send(head + request)
            while sum(map(len, pieces)) < _MOST_BYTES:
                pieces.append(kernel.recv(1 << 16))
                if not pieces[-1] or any(kind in (_ERROR, _DONE) for kind, _ in _messages(pieces[-1])):
                    break
    except OSError:
        return
    for piece in pieces:
        for kind, body in _messages(piece):
            if kind == _SOCK_DIAG_BY_FAMILY and len(body) >= _MESSAGE.size:
                ports, source, destination, inode = _MESSAGE.unpack_from(body)
                for attribute, value in _attributes(body[_MESSAGE.size :]):
                    if attribute == _INFO and len(value) >= _COUNTS.size:
                        yield inode, (ports[:2], source, ports[2:], destination), _COUNTS.unpack_from(value)


def _messages(piece: bytes) -> Iterator[Tuple[int, bytes]]:
    """Kind and body of each message in a piece of an answer (linux/netlink.h: aligned to 4)."""
    at = 0
    while at + _HEADER.size <= len(piece):
        length, kind, *_ = _HEADER.unpack_from(piece, at)
        if length < _HEADER.size:
            return
        yield kind, piece[at + _HEADER.size : at + length]
        at += (length + 3) & ~3


def _attributes(rest: bytes) -> Iterator[Tuple[int, bytes]]:
    at = 0
    while at + _ATTRIBUTE.size <= len(rest):
        length, kind = _ATTRIBUTE.unpack_from(rest, at)
        if length < _ATTRIBUTE.size:
            return
        yield kind, rest[at + _ATTRIBUTE.size : at + length]
        at += (length + 3) & ~3
