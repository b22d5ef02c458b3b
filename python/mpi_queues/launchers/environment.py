"""What launchers tell a process in its environment: its rank, the size of its world, and the name of that world."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Mapping, Optional, Tuple

#: Ranks and sizes are ints of C.
_LIMIT = 1 << 31


@dataclass(frozen=True)
class Family:
    """The variables of one kind of launcher."""

    #: Whose they are, for messages.
    name: str
    rank: str
    #: The first of these that is set counts; none where the launcher tells no size.
    size: Tuple[str, ...] = ()
    #: What together names the world; none where the launcher has no name for it.
    world: Tuple[str, ...] = ()


#: In the order in which they count: what MPI launchers set stands before what batch systems do, because a launcher that
#: runs in an allocation hands the batch system's variables of its own process on to all ranks.
FAMILIES = (
    # open-mpi/ompi 4.1: orte/mca/schizo/ompi/schizo_ompi.c; openpmix/prrte: src/mca/schizo/ompi/schizo_ompi.c
    Family("Open MPI", "OMPI_COMM_WORLD_RANK", ("OMPI_COMM_WORLD_SIZE",), ("PMIX_NAMESPACE",)),
    # Before PMIx had all in 3.x: orte/mca/ess/env
    Family("Open MPI", "OMPI_COMM_WORLD_RANK", ("OMPI_COMM_WORLD_SIZE",), ("OMPI_MCA_ess_base_jobid",)),
    # pmodels/mpich: src/pm/hydra/proxy/pmip_cb.c. PMI_ID is the rank where PMI goes over a port (PMI_PORT).
    Family("PMI", "PMI_RANK", ("PMI_SIZE",)),
    # openpmix/openpmix: src/server/pmix_server.c (PMIx_server_setup_fork). It sets no size; Slurm sets its own beside.
    Family("PMIx", "PMIX_RANK", ("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"), ("PMIX_NAMESPACE",)),
    Family("PMI", "PMI_ID", ("PMI_SIZE",)),
    # MVAPICH2: src/pm/mpirun/mpirun_rsh.c, mpispawn.c
    Family("mpirun_rsh", "MPIRUN_RANK", ("MPIRUN_NPROCS",), ("MPIRUN_ID",)),
    # HPE's launcher (aprun, mpiexec of Cray PALS)
    Family("PALS", "PALS_RANKID", (), ("PALS_APID",)),
    # flux-framework/flux-core: src/shell/builtins.c
    Family("Flux", "FLUX_TASK_RANK", ("FLUX_JOB_SIZE",), ("FLUX_JOB_ID",)),
    # SchedMD/slurm: src/slurmd/slurmstepd/task.c
    Family("Slurm", "SLURM_PROCID", ("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"), ("SLURM_JOB_ID", "SLURM_STEP_ID")),
)


_LOCAL_SIZES = ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")


@dataclass(frozen=True)
class Identity:
    """Which rank of which world a process was started as."""

    family: Family
    rank: int
    size: Optional[int]
    #: The launcher's name for the world.
    world: Optional[str]
    #: Whether MPI_Comm_spawn started it, as far as its environment tells.
    spawned: bool = False
    #: The number that the world of the processes that spawned it has in Open MPI.
    parent: Optional[int] = None
    #: How many of its world are on its host.
    local_size: Optional[int] = None

    @property
    def origin(self) -> str:
        """Where the rank comes from, for people."""
        return f"its environment: {self.family.rank}"


def identity(environment: Mapping[str, str], inherited: Optional[Mapping[str, str]] = None) -> Optional[Identity]:
    """The rank that an environment tells; None where it tells none.

    ``inherited`` is the environment of the launcher: a launcher that was itself started by another one, or in a batch
    job, hands that one's variables on to its ranks, and a variable with the launcher's own value says nothing of them.
    """
    for family in FAMILIES:
        found = _of_family(family, environment)
        if found is None:
            continue
        if inherited is not None and all(environment.get(name) == inherited.get(name) for name in _names(family)):
            continue
        return found
    return None


def contradiction(environment: Mapping[str, str]) -> Optional[str]:
    """Why variables that should tell a rank cannot be meant, in a few words; None where nothing is wrong."""
    for family in FAMILIES:
        text = environment.get(family.rank)
        if text is None:
            continue
        rank = number(text)
        if rank is None:
            return f"{family.rank} is {shortened(text)}, which is not a rank"
        size = _size(family, environment)
        if size is not None and rank >= size[1]:
            return f"{family.rank} is {rank} and {size[0]} is {size[1]}"
    return None


def _of_family(family: Family, environment: Mapping[str, str]) -> Optional[Identity]:
    rank = number(environment.get(family.rank, ""))
    names = [environment.get(name) for name in family.world]
    if rank is None or not all(names):
        return None
    size = _size(family, environment)
    if size is not None and rank >= size[1]:
        return None
    # The port that the spawned processes connect to, "JOBID.RANK:TAG" (open-mpi/ompi: ompi/dpm/dpm.c).
    port = environment.get("OMPI_PARENT_PORT") if family.name == "Open MPI" else None
    spawned = port is not None or (family.name == "PMI" and environment.get("PMI_SPAWNED") == "1")
    return Identity(
        family,
        rank,
        None if size is None else size[1],
        ".".join(name for name in names if name) or None,
        spawned,
        _parent(port),
        next((number(environment[name]) for name in _LOCAL_SIZES if name in environment), None),
    )


def _names(family: Family) -> Tuple[str, ...]:
    # Numbers of file descriptors differ from launcher to launcher where ranks and sizes are equal by chance.
    extra = ("PMI_FD", "PMI_PORT", "HYDI_CONTROL_FD") if family.name == "PMI" else ()
    return (family.rank, *family.size, *family.world, *extra)


def _size(family: Family, environment: Mapping[str, str]) -> Optional[Tuple[str, int]]:
    for name in family.size:
        size = number(environment.get(name, ""))
        if size:
            return name, size
    return None


def _parent(port: Optional[str]) -> Optional[int]:
    match = re.match(r"(\d{1,10})\.\d+:", port or "")
    return int(match[1]) if match else None


def number(text: str) -> Optional[int]:
    """A number as launchers write it; None for anything else."""
    if not text.isascii() or not text.isdecimal() or len(text) > 10:
        return None
    value = int(text)
    return value if value < _LIMIT else None


def shortened(text: str) -> str:
    """A value in quotes, for messages."""
    return repr(text if len(text) <= 40 else text[:37] + "...")
