"""Files that are kept open for a debugger, which opens them by links to them: no name of the target goes into a command
of it, and what it reads is what was looked at."""

from __future__ import annotations

import contextlib
import os
import re
from typing import Dict, Optional, Tuple

from .. import _native
from ..errors import UserError
from ..system import files
from ..system.paths import shown

#: A larger file is not copied (bytes).
_MAX_COPY = 4 << 30


def opened(path: str) -> Optional[int]:
    """A file open for reading; None for what cannot be read, and for what is no file: a device, a pipe, what the kernel
    makes up. With all the rights that this program has: links of ``/proc`` can be followed with these alone."""
    try:
        return _native.open_regular(path, None)
    except (OSError, ValueError):
        return None


def read_at(descriptor: int, at: int, length: int) -> bytes:
    """At most so many bytes of an open file."""
    try:
        return os.pread(descriptor, length, at)
    except (OSError, OverflowError):
        return b""


#: What may go into a debugger's command.
SAFE = re.compile(r"/proc/[0-9]+/(exe|fd/[0-9]+)")


#: Names that mean nothing else in a command, whatever the version of the debugger.
_PLAIN = re.compile(r"/[A-Za-z0-9/_.+-]+")


def command_path(path: str) -> str:
    """A path as a word of a debugger's command: itself, or for a name with other characters a link to the file.

    Raises:
        UserError: where the file cannot be opened.
    """
    absolute = os.path.abspath(path)
    if _PLAIN.fullmatch(absolute):
        return absolute
    descriptor = opened(path)
    if descriptor is None:
        raise UserError(f"{shown(path)}: the file cannot be read", kind="no_file")
    return keep(descriptor, None)


def plain_path(path: str) -> str:
    """The file that a link of :func:`command_path` leads to; every other path is as it is."""
    if SAFE.fullmatch(path):
        with contextlib.suppress(OSError):
            return os.readlink(path)
    return path


def misleads(path: str) -> bool:
    """Whether the name that the kernel gives for the target of a link is another file's."""
    # The steps are taken here, as the debugger takes them: not where the last one does not answer.
    resolved = os.path.realpath(path) if files.is_there(path) else path
    return files.is_there(resolved) and not files.is_one(path, resolved)


def copied(path: str) -> Optional[int]:
    """A file without a name that has the same content."""
    source = opened(path)
    if source is None:
        return None
    try:
        size = os.fstat(source).st_size
        target = os.memfd_create("mpi-queues-copy", os.MFD_CLOEXEC) if size <= _MAX_COPY else -1
        at = 0
        while target >= 0 and at < size:
            sent = os.sendfile(target, source, at, min(size - at, 1 << 30))
            if not sent:
                break
            at += sent
    except (OSError, AttributeError):
        return None
    finally:
        os.close(source)
    return target if target >= 0 else None


#: Copies of files, by their build-ids.
copies: Dict[str, str] = {}

#: Files that are kept open for debuggers, by their build-ids: the ranks of a job have the same ones.
_open_files: Dict[str, Tuple[int, str]] = {}


def kept(build_id: Optional[str]) -> Optional[str]:
    """The link to a file of this build-id that is open already."""
    known = _open_files.get(build_id) if build_id is not None else None
    return known[1] if known is not None else None


def keep(descriptor: int, build_id: Optional[str]) -> str:
    """A link to an open file."""
    path = f"/proc/{os.getpid()}/fd/{descriptor}"
    # Debuggers open a file by its name again and again: it stays open while this program runs.
    _open_files[build_id if build_id is not None else path] = (descriptor, path)
    return path


def anonymous(content: bytes) -> Optional[int]:
    """A file without a name: nothing of it is left, however this program ends."""
    try:
        descriptor = os.memfd_create("mpi-queues-image", os.MFD_CLOEXEC)
    except (OSError, AttributeError):
        return None
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(descriptor, view) :]
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
