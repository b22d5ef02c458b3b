"""Answers of debuggers, read from the temporary file into which they were put. It has no name, so that nothing is left
of it however we end."""

from __future__ import annotations

import os
from typing import IO, Iterator, List, Optional, Sequence, Tuple

from ..errors import UserError

#: The first line of an answer is not longer than this.
MAX_HEAD = 1 << 20
#: So much is in memory at once.
_PIECE = 1 << 20


class KeptFile:
    """A temporary file with answers; it is closed when the last of them is."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._open = 0

    def answer(self, places: Optional[Sequence[Tuple[int, int]]] = None) -> KeptAnswer:
        """The answer at these places (offset and length in bytes), or all that the file has.

        Raises:
            UserError: where it cannot be read; the file stays open.
        """
        found = KeptAnswer(self, places or [(0, os.fstat(self._file.fileno()).st_size)])
        self._open += 1
        return found

    def read(self, offset: int, length: int) -> bytes:
        """At most so many bytes from there.

        Raises:
            UserError: where there are none.
        """
        try:
            found = os.pread(self._file.fileno(), length, offset)
        except OSError as error:
            raise UserError(
                f"the temporary file of what was read: {error.strerror or error}", kind="not_kept"
            ) from None
        if not found and length:
            raise UserError("what was read is not in its temporary file any more", kind="not_kept")
        return found

    def released(self) -> None:
        """One answer of it was closed."""
        self._open -= 1
        self.close_unused()

    def close_unused(self) -> None:
        """Closes it where it has no answer that is open."""
        if self._open <= 0:
            self._file.close()


class KeptAnswer:
    """An answer behind its first line, which is ``head``. Positions are in bytes from there."""

    def __init__(self, file: KeptFile, places: Sequence[Tuple[int, int]]) -> None:
        """
        Raises:
            UserError: where it cannot be read.
        """
        self._file = file
        self._places = places
        self._start = 0
        self._is_open = True
        self.size = sum(length for _, length in places)
        start = self.read(0, min(MAX_HEAD, self.size))
        line, newline, _ = start.partition(b"\n")
        self.head = line + newline
        self._start = len(self.head)
        self.size -= self._start

    def pieces(self, start: int = 0, end: Optional[int] = None) -> Iterator[bytes]:
        """What stands between two positions, in pieces that are not large.

        Raises:
            UserError: where it cannot be read.
        """
        at, left = start + self._start, (self.size if end is None else end) - start
        for offset, length in self._places:
            # What of this place is before the start.
            before = min(at, length)
            at -= before
            offset, length = offset + before, min(length - before, left)
            left -= length
            while length > 0:
                piece = self._file.read(offset, min(length, _PIECE))
                yield piece
                offset, length = offset + len(piece), length - len(piece)

    def read(self, start: int, length: int) -> bytes:
        """So many bytes from there; for what is not large."""
        found: List[bytes] = list(self.pieces(start, start + length))
        return b"".join(found)

    def close(self) -> None:
        """It was used, or nobody will; a second time this does nothing."""
        if self._is_open:
            self._is_open = False
            self._file.released()

    def __enter__(self) -> KeptAnswer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
