"""Which loaded files are the application's."""

from __future__ import annotations

import os
import re

#: Directories of a system's own libraries.
_SYSTEM = re.compile(r"(/usr)?/lib(32|64|x32)?/")

#: Libraries of languages, threads and MPIs wherever they lie: a user may have built them.
_KNOWN = re.compile(
    r"(lib(c|m|dl|rt|pthread|util|resolv|gcc_s|stdc\+\+|c\+\+|c\+\+abi|gfortran|quadmath|gomp|iomp5|omp|irc|imf|svml|"
    r"intlc|asan|tsan|ubsan|lsan|mpi\w*|pmpi\w*|mpich\w*|open-(rte|pal)|pmix|prrte|ucp|ucs|uct|ucm|fabric|psm2?|"
    r"opx|cxi|xpmem|sharp\w*|hcoll|mlx\d|efa|gdrapi|numa|nl-\w+|munge|slurm\w*|pals|ibverbs|rdmacm|hwloc|event\w*|"
    r"cuda\w*|nvidia-\w+|nccl|rccl|amdhip64|hsa-runtime64|ze_\w+|OpenCL)|ld-[\w-]+|mca_\w+|linux-vdso|linux-gate)(-[\w.]+)?\.(so|a)\b"
)

#: What stands for the file of the kernel's own page of code.
VDSO = "[vdso]"


def is_application(path: str, executable: str) -> bool:
    """Whether code of the file ``path`` is the application's: of the executable, or of a library that is none of the
    system, of a language or of an MPI."""
    if path == executable:
        return True
    return path != VDSO and _SYSTEM.match(path) is None and _KNOWN.match(os.path.basename(path)) is None
