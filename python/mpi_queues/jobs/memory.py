"""Shared memory that killed ranks leave behind: files below /dev/shm, which only their last user would have removed."""

from __future__ import annotations

import os
import re
from typing import Iterable, Set

#: MPICH's segments (``src/mpl/src/shm``, ch3:nemesis), UCX's and Intel MPI's. An application's files are its own.
_OF_LIBRARIES = re.compile(r"/dev/shm/(mpich_sh(m|ar)_|ucx_shm_posix_|Intel_MPI_)[^/]*")


def mapped_by(pids: Iterable[int]) -> Set[str]:
    """The files of MPI libraries below /dev/shm that these processes have mapped and that are still there."""
    found: Set[str] = set()
    for pid in pids:
        try:
            # Names may have a carriage return, which ends no line here.
            with open(f"/proc/{pid}/maps", encoding="utf-8", errors="surrogateescape", newline="\n") as maps:
                # A deleted file has " (deleted)" behind its name.
                paths = (line.rstrip("\n").split(maxsplit=5)[-1] for line in maps)
                found.update(path for path in paths if _OF_LIBRARIES.fullmatch(path))
        except OSError:
            # Gone, or another user's.
            continue
    return {path for path in found if os.path.exists(path)}


def remove(files: Iterable[str]) -> None:
    """Removes them; their names are random, so that no other job has them."""
    for file in files:
        try:
            os.unlink(file)
        except OSError:
            # The library itself was faster.
            continue
