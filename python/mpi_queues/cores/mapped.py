"""Memory that a core file leaves out because it is in files: code and constants of programs and libraries.

A file's bytes stand for memory only where nobody can have changed them (its segments that are not writable) and where
the file is the one that was mapped: its first page, which holds the build-id, must be in the core, and equal.
"""

from __future__ import annotations

from typing import IO, Dict, List, NamedTuple, Optional

from ..debuggers.base import NotInCore
from ..debuggers.kept_files import read_at
from ..system import files
from .file import CoreFile
from .format import ELF_HEADER, PROGRAM_HEADER, PT_LOAD, WRITABLE

#: At least; larger pages begin and end at multiples of it.
_PAGE = 4096
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
        return None if file is None else file.read(address, length)

    def _opened(self, name: str) -> Optional[_Constants]:
        first = next((one for one in self._core.mappings if one.name == name and one.offset == 0), None)
        if first is None:
            return None
        try:
            mapped = self._core.read(first.start, min(_PAGE, first.end - first.start))
            with files.opened(name) as file:
                # What follows the end of a file is zeros in its last page.
                if file.read(len(mapped)).ljust(len(mapped), b"\0") != mapped:
                    return None
                return _Constants(name, _constants(mapped, file, first.start))
        except (NotInCore, OSError):
            return None


class _Piece(NamedTuple):
    """A segment's pages, and where their bytes begin in the file; None where memory may differ from it."""

    start: int
    end: int
    offset: Optional[int]


class _Constants:
    """The parts of one file that are not writable when they are loaded. Pieces are by address."""

    def __init__(self, path: str, pieces: List[_Piece]) -> None:
        self._path = path
        self._pieces = pieces

    def read(self, address: int, length: int) -> Optional[bytes]:
        # A page that two segments share is the later one's.
        piece = next((one for one in reversed(self._pieces) if one.start <= address < one.end), None)
        if piece is None or piece.offset is None:
            return None
        end = min([piece.end, *(one.start for one in self._pieces if one.start > address)])
        try:
            with files.opened(self._path) as file:
                return read_at(file.fileno(), piece.offset + address - piece.start, min(length, end - address)) or None
        except OSError:
            return None


def _constants(header: bytes, file: IO[bytes], start: int) -> List[_Piece]:
    """The segments of a file whose first page lies at ``start``; none where it is no ELF file."""
    if len(header) < ELF_HEADER.size or not header.startswith(b"\x7fELF\x02\x01"):
        return []
    _, _, _, _, _, at, _, _, _, size, count, _, _, _ = ELF_HEADER.unpack_from(header)
    if size != PROGRAM_HEADER.size or count > _MAX_HEADERS:
        return []
    table = read_at(file.fileno(), at, count * size)
    loaded = [one for one in PROGRAM_HEADER.iter_unpack(table[: len(table) // size * size]) if one[0] == PT_LOAD]
    bias = next((start - address for _, _, offset, address, *_ in loaded if offset == 0), None)
    if bias is None:
        return []
    pieces = []
    for _, flags, offset, address, _, held, memory, _ in loaded:
        # Whole pages are mapped: what stands around a segment in the file is there as well. Zeros behind it are not.
        constant = not flags & WRITABLE and held == memory
        before, end = address % _PAGE, address + memory
        pieces.append(_Piece(bias + address - before, bias + end + -end % _PAGE, offset - before if constant else None))
    return pieces
