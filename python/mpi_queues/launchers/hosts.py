"""Which hosts are this machine: its names and addresses, asked of the kernel and of files, never of a name server."""

from __future__ import annotations

import os
import socket
from typing import List, Optional, Set

#: Files larger than this are read up to here.
_LIMIT = 1 << 20


def own() -> List[str]:
    """Its names, and the addresses of its interfaces."""
    names: List[str] = []
    for name in (socket.gethostname(), os.uname().nodename):
        names += [name, name.partition(".")[0]]
    addresses = _addresses_v4() | _addresses_v6()
    return [*dict.fromkeys(name for name in names if name), *sorted(addresses), *_aliases(addresses)]


def is_here(host: Optional[str]) -> bool:
    """Whether a launcher means this machine by a host's name, or by an address of IPv4."""
    if host is None:
        return False
    mine = socket.gethostname().lower()
    name = host.lower()
    names = {mine, mine.split(".")[0], "localhost", "127.0.0.1", "::1"}
    # node1 and node1.example.org are one machine; node1.a and node1.b may not be.
    short = name.split(".")[0] if "." not in mine else name
    return name in names or (short == mine and not name.replace(".", "").isdecimal()) or name in _addresses_v4()


def _lines(path: str) -> List[str]:
    try:
        with open(path, "rb") as file:
            return file.read(_LIMIT).decode("utf-8", "replace").splitlines()
    except OSError:
        return []


def _addresses_v4() -> Set[str]:
    """From the routes that lead to this machine itself (Linux, net/ipv4/fib_trie.c: "/32 host LOCAL" under its
    address)."""
    found: Set[str] = set()
    last = ""
    for line in _lines("/proc/net/fib_trie"):
        words = line.split()
        if len(words) >= 2 and words[0] == "|--":
            last = words[1]
        elif words[:3] == ["/32", "host", "LOCAL"] and last:
            found.add(last)
    return found


def _addresses_v6() -> Set[str]:
    """From the interfaces (Linux, net/ipv6/addrconf.c: an address of 32 digits begins each line)."""
    found: Set[str] = set()
    for line in _lines("/proc/net/if_inet6"):
        digits = line.split(" ")[0]
        if len(digits) == 32:
            found.add(":".join(digits[at : at + 4] for at in range(0, 32, 4)))
    return found


def _aliases(addresses: Set[str]) -> List[str]:
    """What /etc/hosts calls these addresses and the loopback."""
    found: List[str] = []
    for line in _lines("/etc/hosts"):
        words = line.partition("#")[0].split()
        if words and (words[0] in addresses or words[0] == "::1" or words[0].startswith("127.")):
            found += words[1:]
    return list(dict.fromkeys(found))
