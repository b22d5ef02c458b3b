"""Shared memory that killed ranks leave behind: files below /dev/shm, which only their last user would have removed."""

from __future__ import annotations

import os
import re
from typing import Iterable, Set

from ..system import mappings

#: MPICH's segments (``src/mpl/src/shm``, ch3:nemesis), UCX's and Intel MPI's. An application's files are its own.
_OF_LIBRARIES = re.compile(r"/dev/shm/(mpich_sh(m|ar)_|ucx_shm_posix_|Intel_MPI_)[^/]*")


def mapped_by(pids: Iterable[int]) -> Set[str]:
    """The files of MPI libraries below /dev/shm that these processes have mapped and that are still there."""
    found: Set[str] = set()
    for pid in pids:
        # None of one that is gone, or another user's.
        paths = (os.fsdecode(mapping.name) for mapping in mappings.of_process(pid) or ())
        # A deleted file has " (deleted)" behind its name.
        found.update(path for path in paths if _OF_LIBRARIES.fullmatch(path))
    return {path for path in found if os.path.exists(path)}


def remove(files: Iterable[str]) -> None:
    """Removes them; their names are random, so that no other job has them."""
    for file in files:
        try:
            os.unlink(file)
        except OSError:
            # The library itself was faster.
            continue
