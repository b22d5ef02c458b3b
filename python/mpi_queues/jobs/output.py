"""What the processes of a job print into files, in bounded memory."""

from __future__ import annotations

import os
import pathlib

#: Bytes of each file of output that are kept, counted from its end.
_MAX_OUTPUT = 256 * 1024


#: Bytes of a line that may say that a rank is ready.
_MAX_LINE = 4096


class Lines:
    """The lines that are added to a file, in bounded memory."""

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path
        self._offset = 0
        self._partial = b""

    def contain(self, wanted: bytes) -> bool:
        """Whether one of the lines that are new since the last call is the wanted one."""
        try:
            with open(self._path, "rb") as file:
                file.seek(self._offset)
                while piece := file.read(1 << 16):
                    self._offset += len(piece)
                    *lines, self._partial = (self._partial + piece).split(b"\n")
                    if any(line.strip() == wanted for line in lines):
                        return True
                    self._partial = self._partial[:_MAX_LINE]
        except FileNotFoundError:
            # The rank has not been started yet.
            return False
        return False


def end_of(path: pathlib.Path) -> str:
    """The end of a file as text; empty where it is not there."""
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _MAX_OUTPUT))
            text = file.read(_MAX_OUTPUT).decode("utf-8", "replace")
    except OSError:
        # Not written to yet.
        return ""
    return text if not text or text.endswith("\n") else text + "\n"
