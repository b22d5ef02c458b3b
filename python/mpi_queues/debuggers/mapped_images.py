"""The files that a process has mapped, and whether a file that a debugger has is one of them: a program that is built
anew, a package that is upgraded, a namesake elsewhere have other build-ids than the process has in its memory."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from typing import Dict, List, NamedTuple, Optional, Tuple

from ..system.paths import shown
from . import elf_heads
from .kept_files import opened, read_at

#: What the kernel adds to the path of a file to which that does not lead any more.
DELETED = b" (deleted)"

#: A character that the kernel writes as three octal digits (seq_path: newlines).
_ESCAPED = re.compile(rb"\\([0-7]{3})")


class Image(NamedTuple):
    """A file that a process has mapped from its first byte on, with code in it."""

    #: Its path, as the kernel tells it to this process, which may be another file's by now.
    name: str
    #: Where its first byte lies, and the end of its last mapping.
    start: int
    end: int
    #: The end of the first mapping.
    first_end: int
    inode: int
    #: Whether no path leads to it any more.
    deleted: bool


class Mistaken(NamedTuple):
    """An image for which a debugger has not the file that is mapped."""

    image: Image
    #: The other file that it has, None where it has none.
    path: Optional[str]
    is_executable: bool

    def __str__(self) -> str:
        name = shown(self.image.name)
        what = "the program" if self.is_executable else "the library"
        if self.path is None:
            return f"the debugger has no file for {what} {name}"
        return f"the file {shown(self.path)} is another one than {what} {name} that runs (it was rebuilt or replaced)"

    def sentence(self, *, attached: bool) -> str:
        """The same with what it costs, and what to do."""
        cost = "its symbols and lines are not used, and what its functions called is not known"
        remedy = (
            "; to have the right one, let the debugger attach anew: mpi detach, then: mpi attach" if attached else ""
        )
        return f"{self}: {cost}{remedy}"


class Mapping(NamedTuple):
    """A mapping of a file."""

    start: int
    end: int
    code: bool
    offset: int
    inode: int
    name: bytes


class Files(ABC):
    """The files of one process, looked at when they are asked for."""

    def __init__(self) -> None:
        self._images: Optional[List[Image]] = None
        self._build_ids: Dict[int, Optional[str]] = {}
        self._heads: Dict[int, Optional[elf_heads.Head]] = {}

    def forget(self) -> None:
        """The process has run, and may have mapped others."""
        self._images = None
        self._build_ids.clear()
        self._heads.clear()

    def images(self) -> List[Image]:
        """By address; empty where they cannot be read."""
        if self._images is None:
            self._images = [one for one in _images(self.mappings()) if self._head(one) is not None]
        return self._images

    @abstractmethod
    def mappings(self) -> List[Mapping]:
        """All files that are mapped, by address."""

    @abstractmethod
    def read(self, address: int, length: int) -> bytes:
        """At most ``length`` bytes of the process's memory."""

    @abstractmethod
    def program_headers(self) -> Optional[int]:
        """Where the executable's program headers lie."""

    @abstractmethod
    def differs(self, image: Image, path: str) -> bool:
        """Whether the file at ``path`` is another one than what is mapped, neither of which has a build-id."""

    def image_at(self, address: int) -> Optional[Image]:
        """The one that has an address."""
        return next((image for image in self.images() if image.start <= address < image.end), None)

    def image_at_bias(self, bias: int) -> Optional[Image]:
        """The one whose file's addresses are by so much smaller than those in memory."""
        return next((image for image in self.images() if self.bias(image) == bias), None)

    def executable(self) -> Optional[Image]:
        """The program itself."""
        headers = self.program_headers()
        return self.image_at(headers) if headers is not None else None

    def _head(self, image: Image) -> Optional[elf_heads.Head]:
        if image.start not in self._heads:
            self._heads[image.start] = elf_heads.head(lambda at, length: self.read(image.start + at, length))
        return self._heads[image.start]

    def build_id(self, image: Image) -> Optional[str]:
        """The build-id that stands in memory; None without one."""
        if image.start not in self._build_ids:
            head = self._head(image)
            self._build_ids[image.start] = (
                elf_heads.build_id(head, lambda at, length: self.read(image.start + at, length), mapped=True)
                if head is not None
                else None
            )
        return self._build_ids[image.start]

    def bias(self, image: Image) -> int:
        """What is added to the addresses in the file."""
        head = self._head(image)
        return image.start - (head.base if head is not None else 0)

    def is_same(self, image: Image, path: str, build_id: Optional[str] = None) -> bool:
        """Whether the file at ``path`` is the one that is mapped. ``build_id`` is that of the file as it was when a
        debugger read it; without it the file is looked at."""
        if self._head(image) is None:
            # Nothing says otherwise: of 32 bits, or left out of a core file.
            return True
        wanted = self.build_id(image)
        if wanted is not None and build_id is not None:
            return wanted == build_id.lower()
        own = file_build_id(path)
        if own is None:
            return False
        if wanted is not None or own:
            return wanted == own
        return not self.differs(image, path)


def _images(mappings: List[Mapping]) -> List[Image]:
    groups: List[List[Mapping]] = []
    for one in mappings:
        last = groups[-1][-1] if groups else None
        same = last is not None and (last.inode, last.name) == (one.inode, one.name)
        if same and last is not None and last.offset <= one.offset and one.offset > 0:
            groups[-1].append(one)
        else:
            groups.append([one])
    found = []
    for group in groups:
        first = group[0]
        if first.offset or not any(one.code for one in group):
            continue
        name = first.name
        deleted = name.endswith(DELETED)
        name = name[: -len(DELETED)] if deleted else name
        plain = _ESCAPED.sub(lambda match: bytes([int(match[1], 8)]), name)
        found.append(Image(os.fsdecode(plain), first.start, group[-1].end, first.end, first.inode, deleted))
    return found


#: Those of files that were read, by what tells a file from others; all ranks of a job have the same.
_file_build_ids: Dict[Tuple[int, int, int, int], Optional[str]] = {}
_MOST_KEPT = 4096


def file_build_id(path: str) -> Optional[str]:
    """The build-id of the ELF file at a path, empty where it has none; None where there is no such file."""
    descriptor = opened(path)
    if descriptor is None:
        return None
    try:
        about = os.fstat(descriptor)
        key = (about.st_dev, about.st_ino, about.st_mtime_ns, about.st_size)
        if key not in _file_build_ids:
            if len(_file_build_ids) >= _MOST_KEPT:
                _file_build_ids.clear()
            _file_build_ids[key] = _build_id_in(descriptor)
        return _file_build_ids[key]
    finally:
        os.close(descriptor)


def _build_id_in(descriptor: int) -> Optional[str]:
    def read(at: int, length: int) -> bytes:
        return read_at(descriptor, at, length)

    head = elf_heads.head(read)
    return None if head is None else elf_heads.build_id(head, read, mapped=False) or ""
