"""Files that we write: whole or not at all, and never through a link of somebody else.

A new file is written beside the place and renamed, so that nobody sees half of it and nothing is left of one that
failed. Directories that everybody may write to, such as ``/tmp``, hold links that others laid; the kernel refuses them
to whoever opens a file through them, not to whoever resolves them first and renames then. So each part of the path is
opened by itself, and a link counts only where it is the user's own or root's.

What is no file (``/dev/stdout``, a pipe with a name) was named by the user and gets what is written once it is whole.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import tempfile
from typing import IO, Iterator, List, NamedTuple, Optional, Union, cast

from ..errors import UserError
from .paths import shown

Path = Union[str, "os.PathLike[str]"]

#: As many links as the kernel follows.
_MAX_LINKS = 40

#: No room is left, on the disk or for this user.
_FULL = (errno.ENOSPC, errno.EDQUOT)

_DIRECTORY = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class _Place(NamedTuple):
    """Where a path leads."""

    #: The directory, open.
    directory: int
    #: What the file is called there; empty where the path leads to what processes have open.
    name: str
    #: The path without links, for people.
    path: str


@contextlib.contextmanager
def new_file(place: Path, what: str, *, for_all: bool = False) -> Iterator[IO[bytes]]:
    """A file that is to be written, under its name once the block has ended without an exception.

    ``what`` it is, such as ``the recording``, is said in errors. Only the user may read a new one, for it tells what
    processes have in memory; ``for_all``: whoever the umask lets, for nothing of a process is in it. A file that was
    there keeps its permissions and, where root writes, its owner.

    Raises:
        UserError: where it cannot be written.
    """
    path = os.fspath(place)
    try:
        with _resolved(path) as found:
            known = _known(path, found)
            if known is not None and not (found.name and stat.S_ISREG(known.st_mode)):
                with _passed_on(path, known, opened=not found.name) as file:
                    yield file
            else:
                mode = (
                    (0o666 & ~_mask() if for_all else 0o600) if known is None else stat.S_IMODE(known.st_mode) & 0o777
                )
                with _beside(found, known, mode) as file:
                    yield file
    except OSError as error:
        raise UserError(
            f"cannot write {what} {shown(path)}: {error.strerror or error}",
            help="free space there, or name another place" if error.errno in _FULL else "name another place",
            kind="not_written",
        ) from None


def is_file(place: Path) -> bool:
    """Whether it is, or would become, a file: no device and no pipe, and not what this process has open."""
    try:
        known = os.stat(place)
    except OSError:
        return True
    return stat.S_ISREG(known.st_mode) and not os.path.abspath(place).startswith(("/dev/std", "/dev/fd/", "/proc/"))


def directory_of(place: Path, what: str) -> Optional[str]:
    """The directory in which the file will be; None where it is none.

    Raises:
        UserError: as :func:`new_file`.
    """
    path = os.fspath(place)
    try:
        with _resolved(path) as found:
            return os.path.dirname(found.path) if found.name and is_file(found.path) else None
    except OSError as error:
        raise UserError(
            f"cannot write {what} {shown(path)}: {error.strerror or error}",
            help="name another place",
            kind="not_written",
        ) from None


@contextlib.contextmanager
def _beside(found: _Place, known: Optional[os.stat_result], mode: int) -> Iterator[IO[bytes]]:
    if known is not None and not os.access(found.name, os.W_OK, dir_fd=found.directory):
        raise PermissionError(errno.EACCES, "it is write-protected")
    new: Optional[str] = f".{found.name[:80]}.{os.urandom(6).hex()}"
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(cast(str, new), flags, 0o600, dir_fd=found.directory)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            file.flush()
            if known is not None and os.geteuid() == 0:
                os.fchown(file.fileno(), known.st_uid, known.st_gid)
            os.fchmod(file.fileno(), mode)
            os.rename(cast(str, new), found.name, src_dir_fd=found.directory, dst_dir_fd=found.directory)
            new = None
    finally:
        if new is not None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(new, dir_fd=found.directory)


@contextlib.contextmanager
def _passed_on(place: str, known: os.stat_result, *, opened: bool) -> Iterator[IO[bytes]]:
    """What is written goes to a device, to a pipe or to what a process has ``opened`` in one go, when it is whole."""
    if stat.S_ISDIR(known.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not (opened or stat.S_ISCHR(known.st_mode) or stat.S_ISFIFO(known.st_mode)):
        raise OSError(errno.EINVAL, "it is neither a file nor a pipe")
    with tempfile.TemporaryFile() as file:
        yield file
        file.seek(0)
        # Not O_CREAT: what was looked at is opened, or nothing.
        descriptor = os.open(place, os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC)
        with os.fdopen(descriptor, "wb") as out:
            if out.isatty():
                raise OSError(errno.EINVAL, "it is a terminal")
            shutil.copyfileobj(file, out)


def _known(place: str, found: _Place) -> Optional[os.stat_result]:
    """What is there; None for nothing."""
    try:
        if not found.name:
            return os.stat(place)
        return os.stat(found.name, dir_fd=found.directory, follow_symlinks=False)
    except FileNotFoundError:
        return None


@contextlib.contextmanager
def _resolved(place: str) -> Iterator[_Place]:
    """Goes to the file's directory, part by part."""
    if not place:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    absolute = place if place.startswith("/") else os.path.join(os.getcwd(), place)
    if place.endswith("/"):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    # The parts that are still to be gone, the next one last.
    parts: List[str] = list(reversed(absolute.split("/")))
    directory, path, links = os.open("/", _DIRECTORY), "/", 0
    try:
        while parts:
            name = parts.pop()
            if name in ("", "."):
                continue
            further = any(part not in ("", ".") for part in parts)
            link = None if name == ".." else _link(directory, name)
            if link is not None:
                links += 1
                if links > _MAX_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                _check_owner(directory, name, os.path.join(path, name), link)
                if path.startswith("/proc/") and path.endswith("/fd"):
                    # What a process has open: its name says nothing.
                    yield _Place(directory, "", os.path.join(path, name))
                    return
                if link.startswith("/"):
                    os.close(directory)
                    directory, path = os.open("/", _DIRECTORY), "/"
                parts.extend(reversed(link.split("/")))
                continue
            if not further and name != "..":
                yield _Place(directory, name, os.path.join(path, name))
                return
            entered = os.open(name, _DIRECTORY, dir_fd=directory)
            os.close(directory)
            directory, path = entered, os.path.normpath(os.path.join(path, name))
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    finally:
        os.close(directory)


def _link(directory: int, name: str) -> Optional[str]:
    try:
        return os.readlink(name, dir_fd=directory)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT):
            return None
        raise


def _check_owner(directory: int, name: str, path: str, link: str) -> None:
    owner = os.stat(name, dir_fd=directory, follow_symlinks=False).st_uid
    if owner in (0, os.geteuid()):
        return
    raise UserError(
        f"{shown(path)} is a link of another user (uid {owner}), to {shown(link)}: nothing is written through it",
        help="if you mean that place, name it directly",
        kind="not_written",
    )


def _mask() -> int:
    """What others may not do with the files of this process."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
