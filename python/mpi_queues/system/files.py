"""Files that others name: sources, programs, cores, what a launcher writes. One way to open them: ``target::files``.

Such a name may lead to a FIFO, which would be waited for, to a device, to what the kernel makes up, or, as root, to
what the process's own user may not read. Nothing of the package opens them otherwise.
"""

from __future__ import annotations

import os
import pwd
import stat
from typing import IO, Mapping, NamedTuple, Optional, Tuple, Union

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


def opened(path: Path, reader: Optional[Reader] = None, *, buffering: int = -1) -> IO[bytes]:
    """A regular file, open for reading.

    Raises:
        OSError: where it is none, or cannot be opened; ``strerror`` says what it is.
    """
    descriptor = _native.open_regular(os.fspath(path), reader)
    try:
        return os.fdopen(descriptor, "rb", buffering)
    except BaseException:
        os.close(descriptor)
        raise


def irregular(path: Path) -> Optional[str]:
    """What a path names that is no regular file, such as ``a FIFO``; None for a regular file, and for nothing."""
    return _native.irregular(os.fspath(path))


def is_fifo(path: Path) -> bool:
    """Whether a path names a FIFO. Nothing is opened."""
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
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
