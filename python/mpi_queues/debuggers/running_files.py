"""The very files that a process of this machine runs, whatever stands at their paths by now.

A program that is built anew, a package that is upgraded, a namesake in another mount namespace: the file at the path
is then another one, and its symbols and lines are those of another program. What identifies a file is its build-id,
which the process has in its memory. The file itself is had where its path still leads to it, through the kernel's own
links to what is mapped (``/proc/PID/exe``; ``/proc/PID/map_files``, which needs CAP_SYS_ADMIN or, since Linux 5.9,
CAP_CHECKPOINT_RESTORE), and else as far as memory has it (``memory_image.py``).
"""

from __future__ import annotations

import os
from typing import Dict, List, Optional, Tuple

from ..system import files, mappings, processes
from ..system.files import is_one
from . import elf_heads
from .elf_heads import PT_LOAD, WRITABLE
from .kept_files import SAFE, anonymous, copied, copies, keep, kept, misleads, opened, read_at
from .mapped_images import DELETED, Files, Image, Mapping
from .memory_image import memory_image

#: How much of two files without build-ids is compared (bytes).
_COMPARED = 64 << 20
_PIECE = 1 << 20


class RunningFiles(Files):
    """Those of a live process of this machine."""

    def __init__(self, pid: int) -> None:
        super().__init__()
        self._pid = pid
        self._memory: Optional[int] = None
        self._right: Dict[int, Optional[str]] = {}
        #: What the kernel listed of files when it was last asked, and whether the process has run since.
        self._listed: Optional[Tuple[bytes, ...]] = None
        self._stale = True

    def __del__(self) -> None:
        self.forget()

    @property
    def pid(self) -> int:
        """Whose files these are."""
        return self._pid

    def forget(self) -> None:
        self._stale = True
        opened, self._memory = self._memory, None
        if opened is not None:
            os.close(opened)

    @property
    def listed(self) -> Tuple[bytes, ...]:
        """The lines of the kernel's list that are about files: where they are equal, the same files are mapped."""
        if self._stale or self._listed is None:
            found = mappings.lines_of_files(self._pid)
            if found != self._listed:
                super().forget()
                self._right.clear()
            self._listed, self._stale = found, False
        return self._listed

    def images(self) -> List[Image]:
        _ = self.listed
        return super().images()

    def mappings(self) -> List[Mapping]:
        return [
            Mapping(one.start, one.end, one.is_code, one.offset, one.inode, one.name)
            for one in mappings.parsed(b"\n".join(self.listed))
            if one.name.startswith(b"/")
        ]

    def read(self, address: int, length: int) -> bytes:
        try:
            if self._memory is None:
                self._memory = os.open(f"/proc/{self._pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
            return os.pread(self._memory, length, address)
        except (OSError, OverflowError):
            return b""

    def program_headers(self) -> Optional[int]:
        found = processes.program_headers(self._pid, 8, "little")
        return found[0] if found is not None else None

    def differs(self, image: Image, path: str) -> bool:
        descriptor = opened(path)
        # No path leads to the file of one that was deleted.
        if descriptor is None or image.deleted:
            return True
        try:
            # File systems of several layers give a file another number in each view.
            return os.fstat(descriptor).st_ino != image.inode and self._contents_differ(image, descriptor)
        finally:
            os.close(descriptor)

    def _contents_differ(self, image: Image, descriptor: int) -> bool:
        def read(at: int, length: int) -> bytes:
            return read_at(descriptor, at, length)

        head = elf_heads.head(read)
        if head is None:
            return True
        left = _COMPARED
        for segment in head.segments:
            if segment.kind != PT_LOAD or segment.flags & WRITABLE:
                continue
            for at in range(0, segment.held, _PIECE):
                length = min(_PIECE, segment.held - at)
                left -= length
                memory = self.read(image.start + segment.address - head.base + at, length)
                if left < 0 or memory != read(segment.offset + at, length):
                    return True
        return False

    def link(self, image: Image) -> Optional[str]:
        """As :meth:`right_file`, by a path of nothing but letters, digits and slashes: it may go into a command. Nor
        does it lead elsewhere for who resolves it step by step, as gdb does: the kernel's links name paths at which
        there may be another file by now."""
        path = self.right_file(image)
        if path is None or (SAFE.fullmatch(path) and not misleads(path)):
            return path
        build_id = self.build_id(image)
        if not misleads(path):
            descriptor = opened(path)
        elif build_id in copies:
            return copies[build_id]
        else:
            descriptor = copied(path)
        if descriptor is None:
            return None
        link = keep(descriptor, None)
        if build_id is not None and misleads(path):
            copies[build_id] = link
        return link

    def named(self, image: Image) -> List[str]:
        """Where its path leads to: in the process's own tree of directories, and in ours."""
        return [f"/proc/{self._pid}/root{image.name}", image.name] if image.name.startswith("/") else []

    def right_file(self, image: Image) -> Optional[str]:
        """A path that leads to the very file, as long as this process lives; None where nothing has it."""
        if image.start not in self._right:
            self._right[image.start] = self._found(image)
        return self._right[image.start]

    def _found(self, image: Image) -> Optional[str]:
        for path in reversed(self.named(image)):
            if self.is_same(image, path):
                return path
        executable = self.executable()
        if executable is not None and executable.start == image.start:
            return f"/proc/{self._pid}/exe"
        known = kept(self.build_id(image))
        if known is not None:
            return known
        link = f"/proc/{self._pid}/map_files/{image.start:x}-{image.first_end:x}"
        descriptor = opened(link)
        if descriptor is None:
            content = memory_image(lambda at, length: self.read(image.start + at, length), image.start)
            descriptor = anonymous(content) if content is not None else None
        return keep(descriptor, self.build_id(image)) if descriptor is not None else None

    def replaced_executable(self) -> Optional[str]:
        """Where the executable is to be had as :meth:`link` tells, where its path does not lead to it; else None."""
        own = f"/proc/{self._pid}/exe"
        path = executable_path(self._pid)
        # Debuggers open the path in their own tree of directories, or in the process's.
        if path is None or all(is_one(own, one) for one in (path, f"/proc/{self._pid}/root{path}")):
            return None
        image = self.executable()
        return self.link(image) if image is not None else None


def executable_path(pid: int) -> Optional[str]:
    """The path of a process's executable, without the words that the kernel adds where it was deleted."""
    own = processes.directory(pid)
    link = f"{own}/exe"
    try:
        path = os.fsencode(os.readlink(link))
        if path.endswith(DELETED):
            # A file may really be called so.
            if files.is_one(f"{own}/root{os.fsdecode(path)}", link):
                return os.fsdecode(path)
            path = path[: -len(DELETED)]
    except OSError:
        return None
    return os.fsdecode(path)
