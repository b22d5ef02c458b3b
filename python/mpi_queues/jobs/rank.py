"""What the launcher starts for each rank of a job of ``jobs.py``: it prepares the process, then becomes the program.

A script of its own, run by its path: it imports nothing of the package.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Dict, List, NoReturn

#: Where launchers say which rank in MPI_COMM_WORLD a process is: Open MPI, PMIx (Open MPI 5, srun), PMI (MPICH and its
#: relatives), Slurm.
_RANK_VARIABLES = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")

_PR_SET_PTRACER = 0x59616D61
_PR_SET_PTRACER_ANY = -1


def main(arguments: List[str]) -> NoReturn:
    """``rank.py DIRECTORY PROGRAM ARGUMENT...``; returns only by ending, where the program cannot be started."""
    directory, *command = arguments
    rank = next((os.environ[name] for name in _RANK_VARIABLES if name in os.environ), "")
    if not rank.isdecimal():
        _fail(f"the launcher has set none of {', '.join(_RANK_VARIABLES)}, which would say which rank this process is")
    # Whole or not at all: somebody waits for it.
    with open(f"{directory}/pid.{rank}.new", "w") as file:
        file.write(str(os.getpid()))
    os.rename(file.name, f"{directory}/pid.{rank}")
    # A file for each rank: what several ranks print at once may come out of a launcher mixed within a line.
    output = os.open(f"{directory}/stdout.{rank}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(output, 1)
    os.close(output)
    _allow_debuggers()
    # Python ignores these, and what is ignored stays so in the program.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execve(command[0], command, _initial_environment())
    except OSError as error:
        _fail(f"{command[0]} cannot be started: {error.strerror}")


def _allow_debuggers() -> None:
    """Lets processes other than our ancestors attach, where the kernel asks for that (Yama, ptrace_scope 1).

    The kernel keeps this with the process, also when it becomes another program (security/yama/yama_lsm.c).
    """
    try:
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_ulong(_PR_SET_PTRACER_ANY & (2**64 - 1)), 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        # A Python without ctypes: then the reading says what the kernel asks for.
        return


def _initial_environment() -> Dict[bytes, bytes]:
    """The environment as the launcher made it: Python itself may add to its own (PEP 538)."""
    with open("/proc/self/environ", "rb") as file:
        pairs = (entry.partition(b"=") for entry in file.read().split(b"\0") if b"=" in entry)
        return {name: value for name, _, value in pairs}


def _fail(message: str) -> NoReturn:
    print(f"mpi-queues: {message}", file=sys.stderr, flush=True)
    # What a shell says of a command that it cannot start.
    os._exit(127)


if __name__ == "__main__":
    main(sys.argv[1:])
