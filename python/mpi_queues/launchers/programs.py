"""Which programs start MPI jobs, by their names, and processes in messages."""

from __future__ import annotations

import os
import re
import shlex
from typing import List

from .tree import ProcessTree

#: Programs that start MPI jobs, and what distributions make of their names (mpirun.openmpi, mpiexec.hydra).
_LAUNCHER = re.compile(
    r"^(?:mpirun|mpiexec|orterun|oshrun|shmemrun|prterun|prte|srun|aprun|mpirun_rsh|mpiexec_mpt|jsrun)(?:[-.].*)?$"
)


#: What launchers start on each host to start the ranks there, and what brings these there.
_DAEMON = re.compile(
    r"^(?:hydra_[a-z_]+|pmi_proxy|orted|prted|slurmstepd|mpispawn|ssh|rsh|sshd|qrsh|blaunch|pbs_tmrsh|palsd)\b"
)


#: Characters of a command line in a message.
_MAX_COMMAND = 70


def is_launcher(tree: ProcessTree, pid: int) -> bool:
    """Whether its name is that of a program that starts MPI jobs."""
    return any(map(has_name_of_launcher, names_of(tree, pid)))


def has_name_of_launcher(name: str) -> bool:
    """Whether a name is that of a program that starts MPI jobs."""
    return _LAUNCHER.match(name) is not None


def is_daemon(tree: ProcessTree, pid: int) -> bool:
    """Whether its name is that of a program that launchers start to start ranks."""
    process = tree.get(pid)
    return bool(_DAEMON.match(tree.short_name(pid)) or (process and _DAEMON.match(process.name)))


def names_of(tree: ProcessTree, pid: int) -> List[str]:
    """What a process is called: as it was started, and as its file is."""
    # Not the name of the program's file where the program was started as another: prte is prterun's, orterun mpirun's.
    names = [tree.short_name(pid)]
    if tree.script(pid) is None:
        names.append(os.path.basename(tree.executable(pid) or ""))
        # prterun became what it is through mpirun (open-mpi/ompi 5: ompi/tools/mpirun/main.c).
        tool = (tree.environment(pid) or {}).get("OMPI_TOOL_NAME", "")
        if names[0].startswith("prterun") and tool:
            names.append(tool)
    return names


def described(tree: ProcessTree, pid: int) -> str:
    """A process for messages, with its command line."""
    line = shlex.join(tree.command(pid)) or f"[{tree.short_name(pid)}]"
    return f"pid {pid}: {line if len(line) <= _MAX_COMMAND else line[: _MAX_COMMAND - 1] + '…'}"
