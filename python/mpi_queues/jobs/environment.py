"""The environment of a job that is started here, on this machine alone."""

from __future__ import annotations

import os
from typing import Dict, Mapping, Optional

from .. import keeper

#: Variables of a batch system, or of a job in which we ourselves run: this job is another one, on this machine alone.
_OF_ANOTHER_JOB = (
    *("SLURM_", "PBS_", "LSB_", "LS_", "SGE_", "PE_HOSTFILE", "FLUX_", "PMI_", "PMIX_", "OMPI_COMM_WORLD_"),
    *("HYDRA_", "HYDI_", "MPI_LOCAL"),
)


def of_job(directory: str, asked: Mapping[str, Optional[str]]) -> Dict[str, str]:
    """Ours, as a job needs it whose files are in ``directory``, with what is ``asked``: None takes a variable away."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_OF_ANOTHER_JOB)}
    defaults = {
        "OMPI_MCA_pml": "ob1",
        # More ranks than processors, which must not wait for each other at full speed.
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        # Jobs of several tests at once must not all be bound to the first processors.
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "PRTE_MCA_hwloc_default_binding_policy": "none",
        # This machine alone: no ssh, no batch system.
        "OMPI_MCA_plm": "isolated",
        "HYDRA_LAUNCHER": "fork",
        "HYDRA_RMK": "user",
    }
    environment = {**defaults, **environment}
    environment.update(
        {
            keeper.MARK: directory,
            # The launcher's session directories, and the segments of shared memory, which a killed process cannot
            # remove (btl vader in Open MPI 4, sm in 5).
            "TMPDIR": directory,
            "OMPI_MCA_btl_vader_backing_directory": directory,
            "OMPI_MCA_btl_sm_backing_directory": directory,
        }
    )
    for name, value in asked.items():
        environment.pop(name, None)
        if value is not None:
            environment[name] = value
    if os.geteuid() == 0:
        for implementation in ("OMPI", "PRTE"):
            environment[f"{implementation}_ALLOW_RUN_AS_ROOT"] = "1"
            environment[f"{implementation}_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    return environment
