"""Memory that a core file leaves out because it is in files: code and constants of programs and libraries.

A file's bytes stand for memory only where nobody can have changed them (its segments that are not writable) and where
the file is the one that was mapped: its first page, which holds the build-id, must be in the core, and equal.
"""

from __future__ import annotations

import os
from typing import IO, Dict, List, Optional, Tuple

from .base import NotInCore
from .core_file import CoreFile
from .core_format import ELF_HEADER, PROGRAM_HEADER, PT_LOAD, WRITABLE

_COMPARED = 4096
_MAX_HEADERS = 1024


class MappedFiles:
    """The files that a core file's process had mapped, as far as they are here and unchanged."""

    def __init__(self, core: CoreFile) -> None:
        self._core = core
        self._files: Dict[str, Optional[_Constants]] = {}

    def read(self, address: int, length: int) -> Optional[bytes]:
        """At most ``length`` bytes at ``address``, None where no file can stand for them."""
        mapping = self._core.mapping(address)
        if mapping is None:
            return None
        if mapping.name not in self._files:
            self._files[mapping.name] = self._opened(mapping.name)
        file = self._files[mapping.name]
        if file is None:
            return None
        offset = mapping.offset + address - mapping.start
        return file.read(offset, min(length, mapping.end - address))

    def _opened(self, name: str) -> Optional[_Constants]:
        first = next((one for one in self._core.mappings if one.name == name and one.offset == 0), None)
        if first is None:
            return None
        try:
            mapped = self._core.read(first.start, min(_COMPARED, first.end - first.start))
            with open(name, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)) as file:
                # What follows the end of a file is zeros in its last page.
                if file.read(len(mapped)).ljust(len(mapped), b"\0") != mapped:
                    return None
                return _Constants(name, _constant_ranges(mapped, file))
        except (NotInCore, OSError):
            return None


class _Constants:
    """The parts of one file that are not writable when they are loaded."""

    def __init__(self, path: str, ranges: List[Tuple[int, int]]) -> None:
        self._path = path
        self._ranges = ranges

    def read(self, offset: int, length: int) -> Optional[bytes]:
        for start, end in self._ranges:
            if start <= offset < end:
                try:
                    with open(self._path, "rb") as file:
                        file.seek(offset)
                        return file.read(min(length, end - offset)) or None
                except OSError:
                    return None
        return None


def _constant_ranges(header: bytes, file: IO[bytes]) -> List[Tuple[int, int]]:
    """Offsets in the file, start and end; none where it is no ELF file."""
    if len(header) < ELF_HEADER.size or not header.startswith(b"\x7fELF\x02\x01"):
        return []
    _, _, _, _, _, at, _, _, _, size, count, _, _, _ = ELF_HEADER.unpack_from(header)
    if size != PROGRAM_HEADER.size or count > _MAX_HEADERS:
        return []
    file.seek(at)
    table = file.read(count * size)
    return [
        (offset, offset + held)
        for kind, flags, offset, _, _, held, _, _ in PROGRAM_HEADER.iter_unpack(table[: len(table) // size * size])
        if kind == PT_LOAD and not flags & WRITABLE
    ]
