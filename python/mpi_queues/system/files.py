"""Files that others name: sources, programs, cores, what a launcher writes. One way to open them: ``target::files``.

Such a name may lead to a FIFO, which would be waited for, to a device, to what the kernel makes up, or, as root, to
what the process's own user may not read; and to a file system that does not answer. Nothing of the package opens them
otherwise.
"""

from __future__ import annotations

import io
import os
import pwd
import stat
from typing import Any, Mapping, NamedTuple, Optional, Tuple, Union

from .. import _native
from . import processes

Path = Union[str, "os.PathLike[str]"]


class Reader(NamedTuple):
    """For whom a file is read: root opens for others only what they could open themselves."""

    uid: int
    gid: int
    groups: Tuple[int, ...]


#: Of whom nothing is known has the rights of everybody.
_NOBODY = Reader(65534, 65534, ())


class About(NamedTuple):
    """What a file is."""

    device: int
    inode: int
    size: int
    #: When it was last written, in nanoseconds since 1970.
    written: int
    mode: int
    owner: int
    group: int

    def is_one(self, other: About) -> bool:
        """Whether both are one file."""
        return (self.device, self.inode) == (other.device, other.inode)


class _Opened(io.RawIOBase):
    """A file that is read through the core, which waits for no file system for long."""

    def __init__(self, path: Path, reader: Optional[Reader]) -> None:
        super().__init__()
        self._file = _native.RegularFile(os.fspath(path), reader)
        self._at = 0

    @property
    def about(self) -> About:
        return About(*self._file.about)

    def readable(self) -> bool:
        return True

    def readinto(self, to: Any) -> int:
        piece = self._file.read_at(self._at, len(to))
        to[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)


class RegularFile(io.BufferedReader):
    """A regular file that is open for reading. There is no descriptor: it may lie where somebody else reads it."""

    def __init__(self, path: Path, reader: Optional[Reader]) -> None:
        raw = _Opened(path, reader)
        #: What it was when it was opened.
        self.about = raw.about
        super().__init__(raw)


def opened(path: Path, reader: Optional[Reader] = None) -> RegularFile:
    """A regular file, open for reading.

    Raises:
        OSError: where it is none, cannot be opened, or its file system does not answer; ``strerror`` says what it is.
    """
    return RegularFile(path, reader)


def about(path: Path) -> About:
    """What a path leads to, whatever it is.

    Raises:
        OSError: where there is nothing, or its file system does not answer.
    """
    return About(*_native.about_file(os.fspath(path)))


def is_there(path: Path) -> bool:
    """Whether a path leads to something; not where its file system does not answer."""
    try:
        about(path)
    except (OSError, ValueError):
        return False
    return True


def is_one(path: Path, other: Path) -> bool:
    """Whether two paths lead to one file."""
    try:
        return about(path).is_one(about(other))
    except (OSError, ValueError):
        return False


def real_path(path: str) -> str:
    """The path without links, as far as that can be told."""
    try:
        return os.fsdecode(_native.real_path(path))
    except (OSError, ValueError):
        return os.path.abspath(path)


def irregular(path: Path) -> Optional[str]:
    """What a path names that is no regular file, such as ``a FIFO``; None for a regular file, and for nothing."""
    return _native.irregular(os.fspath(path))


def is_fifo(path: Path) -> bool:
    """Whether a path names a FIFO. Nothing is opened."""
    try:
        return stat.S_ISFIFO(about(path).mode)
    except (OSError, ValueError):
        return False


def reader_of(pid: Optional[int]) -> Optional[Reader]:
    """For whom files are read that a process of this machine names; None (no process of this machine): for everybody's
    rights. Who is not root has his own and no others: then there is nothing to give up."""
    return reader_with(processes.status(pid) if pid is not None else {})


def reader_with(status: Mapping[str, str]) -> Optional[Reader]:
    """As :func:`reader_of`, for a process with these fields of its status."""
    if os.geteuid() != 0:
        return None
    try:
        uid, gid = (int(status[name].split()[0]) for name in ("Uid", "Gid"))
        return Reader(uid, gid, tuple(map(int, status.get("Groups", "").split())))
    except (KeyError, IndexError, ValueError):
        return _NOBODY


def reader_of_user(uid: int) -> Optional[Reader]:
    """For a user of this machine, with his groups."""
    if os.geteuid() != 0:
        return None
    try:
        user = pwd.getpwuid(uid)
        return Reader(uid, user.pw_gid, tuple(os.getgrouplist(user.pw_name, user.pw_gid)))
    except (KeyError, OverflowError):
        return Reader(uid, _NOBODY.gid, ())
