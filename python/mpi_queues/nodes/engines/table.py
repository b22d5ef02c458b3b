"""The hosts that a launcher has written down, with the processes that it has started there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, FrozenSet, List, Optional, Tuple

from .base import Nodes, checked


@dataclass(frozen=True)
class Table(Nodes):
    """Processes of other hosts."""

    job: str
    #: By host and process id.
    places: Tuple[Tuple[str, int], ...]
    #: The launcher's user, by number.
    user: int

    @property
    def name(self) -> str:
        """How messages name the job."""
        return self.job

    def nodes(self) -> List[str]:
        """Their hosts.

        Raises:
            UserError: where they have names that no engine can be given.
        """
        return checked([host for host, _ in self.places], self.name)

    def owner(self) -> int:
        """The launcher's user: another host may have somebody else's process of that number."""
        return self.user

    @property
    def pids(self) -> Optional[FrozenSet[int]]:
        """They."""
        return frozenset(pid for _, pid in self.places)

    @property
    def job_variables(self) -> Dict[str, str]:
        """None: the table tells which processes are meant."""
        return {}

    same = ()
    other = ()
    knows_all_nodes = False


@dataclass(frozen=True)
class TableOfSrun(Table):
    """The same of an srun: Slurm says in the environment of each process of which job it is, and on which node."""

    slurm_job: str

    @property
    def job_variables(self) -> Dict[str, str]:
        """By which its processes are known besides: another node may have other ones of these numbers."""
        return {"SLURM_JOB_ID": self.slurm_job}

    same = ("SLURMD_NODENAME",)  # type: ignore[assignment]
