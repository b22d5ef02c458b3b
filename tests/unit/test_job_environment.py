"""Ranks from the environments of processes, which programs can overwrite."""

from __future__ import annotations

from typing import Dict, Optional

import pytest
from mpi_queues.launchers.environment import contradiction, identity

OMPI = {"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "8", "PMIX_NAMESPACE": "1432158209", "PMIX_RANK": "3"}
PMI = {"PMI_RANK": "1", "PMI_SIZE": "2", "PMI_FD": "6", "MPI_LOCALNRANKS": "2"}
SLURM = {"SLURM_PROCID": "5", "SLURM_STEP_NUM_TASKS": "6", "SLURM_JOB_ID": "77", "SLURM_STEP_ID": "2"}


@pytest.mark.parametrize(
    ("environment", "rank", "size", "world"),
    [
        (OMPI, 3, 8, "1432158209"),
        (PMI, 1, 2, None),
        (SLURM, 5, 6, "77.2"),
        # Slurm's own plug-in for PMIx sets no size.
        ({**SLURM, "PMIX_RANK": "5", "PMIX_NAMESPACE": "slurm.pmix.77.2"}, 5, 6, "slurm.pmix.77.2"),
        ({"PMI_ID": "4", "PMI_SIZE": "9", "PMI_PORT": "host:1"}, 4, 9, None),
        ({"PALS_RANKID": "2", "PALS_APID": "x"}, 2, None, "x"),
        # An mpirun inside of a batch job hands the variables of the job's own script on.
        ({**PMI, **SLURM, "SLURM_PROCID": "0"}, 1, 2, None),
    ],
)
def test_of_each_launcher(environment: Dict[str, str], rank: int, size: Optional[int], world: Optional[str]) -> None:
    found = identity(environment)
    assert found is not None
    assert (found.rank, found.size, found.world) == (rank, size, world)
    assert found.family.rank in found.origin


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"OMPI_COMM_WORLD_RANK": "", "PMIX_NAMESPACE": "1"},
        {"PMI_RANK": "-1", "PMI_SIZE": "2"},
        {"PMI_RANK": "1e3"},
        {"PMI_RANK": "0x1"},
        {"PMI_RANK": "٣"},
        {"PMI_RANK": "2147483648"},
        {"PMI_RANK": "1" * 5000},
        {"PMI_RANK": "2", "PMI_SIZE": "2"},
        # No name of the world where the launcher always gives one.
        {"SLURM_PROCID": "0", "SLURM_JOB_ID": "1"},
        {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"},
    ],
)
def test_what_tells_no_rank(environment: Dict[str, str]) -> None:
    assert identity(environment) is None


def test_what_the_launcher_had_itself_says_nothing_of_its_ranks() -> None:
    assert identity({**OMPI, **PMI}, OMPI) == identity(PMI)
    assert identity(OMPI, OMPI) is None
    assert identity(OMPI, {**OMPI, "OMPI_COMM_WORLD_RANK": "0"}) == identity(OMPI)


def test_spawned_processes_and_who_spawned_them() -> None:
    found = identity({**OMPI, "OMPI_PARENT_PORT": "773914625.0:1750672412"})
    assert found is not None
    assert (found.spawned, found.parent) == (True, 773914625)
    for port in ("", "x", "-1.0:7", "1" * 5000 + ".0:1"):
        found = identity({**OMPI, "OMPI_PARENT_PORT": port})
        assert found is not None
        assert found.parent is None
    found = identity({**PMI, "PMI_SPAWNED": "1"})
    assert found is not None
    assert found.spawned


def test_contradictions_are_told() -> None:
    assert contradiction({"PMI_RANK": "7", "PMI_SIZE": "2"}) == "PMI_RANK is 7 and PMI_SIZE is 2"
    assert contradiction({"PMI_RANK": "x" * 5000}) == f"PMI_RANK is '{'x' * 37}...', which is not a rank"
    assert contradiction(OMPI) is None
    assert contradiction({"HOME": "/"}) is None
