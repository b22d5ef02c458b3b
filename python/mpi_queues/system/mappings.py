"""What a process has mapped, as the kernel lists it (/proc/PID/maps, proc(5))."""

from __future__ import annotations

from typing import List, NamedTuple, Optional

from . import processes

#: Lists longer than this are not read on (bytes).
MAX_LIST = 16 << 20


class Mapping(NamedTuple):
    """A mapping of a file, or of memory without one."""

    start: int
    #: The first address behind it.
    end: int
    #: Such as ``r-xp``: readable, writable, code, private or shared.
    permissions: str
    #: In the file, in bytes.
    offset: int
    #: Major and minor number, as the kernel writes them.
    device: str
    inode: int
    #: As the kernel writes it: a path, with ``\012`` for a newline and `` (deleted)`` behind it where the file is gone;
    #: ``[heap]`` and the like; empty for other anonymous memory.
    name: bytes

    @property
    def length(self) -> int:
        """In bytes."""
        return self.end - self.start

    @property
    def is_readable(self) -> bool:
        return self.permissions[0] == "r"

    @property
    def is_writable(self) -> bool:
        return self.permissions[1] == "w"

    @property
    def is_code(self) -> bool:
        return self.permissions[2] == "x"


def parsed(content: bytes) -> List[Mapping]:
    """The mappings of a list, by address. What is no line of such a list (one that was cut short) is left out."""
    found = []
    for line in processes.lines(content):
        words = line.split(None, 5)
        try:
            start, end = (int(word, 16) for word in words[0].split(b"-"))
            permissions, offset, device, inode = words[1].decode(), int(words[2], 16), words[3].decode(), int(words[4])
        except (IndexError, ValueError):
            continue
        if len(permissions) == 4:
            name = words[5] if len(words) > 5 else b""
            found.append(Mapping(start, end, permissions, offset, device, inode, name))
    return found


def of_process(pid: int) -> Optional[List[Mapping]]:
    """The mappings of a process of this machine, by address; None where they cannot be read."""
    try:
        with open(f"{processes.directory(pid)}/maps", "rb") as file:
            return parsed(file.read(MAX_LIST))
    except OSError:
        return None
