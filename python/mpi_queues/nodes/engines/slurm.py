"""Slurm: jobs, and srun, which runs agents beside them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Dict, List, Sequence

from .base import BatchSystem, Nodes, Starter, checked, copied, expanded, user

_SLURM = BatchSystem("install slurm-client", "squeue --me")

#: What srun says where a task could not be started or has ended badly, of one node or of several, such as ``n[1-3,7]``
#: (SchedMD/slurm 22.05: src/plugins/launch/slurm/launch_slurm.c, ``_task_finish``; src/api/step_launch.c,
#: ``_node_fail_handler``). It goes on as long as other tasks do. Tasks that srun has killed are none: it does so on all
#: nodes where one of them cannot be reached, after some time in which the others answer.
_ENDED = re.compile(
    r"srun: error: (?:(?P<ended>[^\s:]+): tasks? [\d,\[\]-]+: (?!Killed$).+"
    r"|Node failure on (?P<lost>[^\s:]+))"
)


@dataclass(frozen=True)
class Slurm(Nodes):
    """A job of Slurm, or one step of it."""

    job: str
    step: str = ""

    @property
    def name(self) -> str:
        """How the user names it."""
        return f"slurm:{self.job}" + (f".{self.step}" if self.step else "")

    def nodes(self) -> List[str]:
        """The nodes that it has.

        Raises:
            UserError: where there is no such job, or Slurm does not say.
        """
        words = self._listed("%T %N").split()
        if len(words) != 2 or words[0] not in ("RUNNING", "SUSPENDED", "COMPLETING", "STOPPED"):
            state = f"it is {words[0].lower()}" if words else "Slurm runs no job of that number"
            raise _SLURM.no_job(self.name, state)
        return checked(_SLURM.says(self.name, "scontrol", "show", "hostnames", words[1]).split(), self.name)

    def _listed(self, form: str) -> str:
        return _SLURM.says(self.name, "squeue", "--noheader", f"--jobs={self.job}", f"--format={form}")

    def owner(self) -> int:
        """Who has submitted it.

        Raises:
            UserError: where Slurm does not say.
        """
        return user(self._listed("%U"), self.name)

    @property
    def job_variables(self) -> Dict[str, str]:
        """By which its processes are known."""
        return {"SLURM_JOB_ID": self.job, **({"SLURM_STEP_ID": self.step} if self.step else {})}

    #: On virtual nodes, which share one /proc, only the processes of the agent's own node count.
    same = ("SLURMD_NODENAME",)
    #: What the agent's own step has started is no rank.
    other = ("SLURM_JOB_ID", "SLURM_STEP_ID")

    @property
    def knows_all_nodes(self) -> bool:  # type: ignore[override]
        """Of a step it does not: mpirun has one start its daemons, and ranks beside itself without them."""
        return not self.step


@dataclass(frozen=True)
class Srun(Starter):
    """Runs agents beside a job, without resources of their own."""

    called = "srun"
    job: str

    def command(self, nodes: Sequence[str], agent: Sequence[str]) -> List[str]:
        """Runs the agent once on each node."""
        return [
            "srun",
            f"--jobid={self.job}",
            "--overlap",
            f"--nodes={len(nodes)}",
            f"--ntasks={len(nodes)}",
            "--ntasks-per-node=1",
            f"--nodelist={','.join(nodes)}",
            "--gres=none",
            "--mem-bind=no",
            "--cpu-bind=no",
            "--mpi=none",
            "--no-kill",
            "--kill-on-bad-exit=0",
            "--quiet",
            "--label",
            *agent,
        ]

    def fetching(self, node: str, path: str) -> str:
        """Copies a file from a node."""
        step = ["srun", f"--jobid={self.job}", "--overlap", f"--nodelist={node}", "--nodes=1", "--ntasks=1"]
        return copied([*step, "cat", path], path)

    def failed(self, line: str) -> Sequence[str]:
        """The nodes on which nothing runs any more."""
        match = _ENDED.fullmatch(line)
        return expanded(next(filter(None, match.groups()))) if match else ()
