"""flux: jobs, and flux exec, which runs agents beside them."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from typing import Dict, List, Mapping, Optional, Sequence

from ...errors import UserError
from .base import Nodes, Starter, checked, said

_PACKAGE = "flux-core"

#: What flux exec says where a program could not be started or has been lost (flux-framework/flux-core,
#: src/cmd/flux-exec.c, ``state_cb``, 0.88): with the broker's rank, whatever the job.
_LOST = re.compile(r"flux-exec: Error: rank (\d{1,9}): .*")


@dataclass(frozen=True)
class Flux(Nodes):
    """A job of flux."""

    job: str

    @property
    def name(self) -> str:
        """How the user names it."""
        return f"flux:{self.job}"

    def nodes(self) -> List[str]:
        """The nodes that it has.

        Raises:
            UserError: where there is no such job, or flux does not say.
        """
        listed = said(["flux", "jobs", "--no-header", "--format={state} {nodelist}", self.job], _PACKAGE, self.name)
        state, _, nodes = listed.strip().partition(" ")
        if state not in ("RUN", "CLEANUP") or not nodes:
            raise UserError(
                f"{self.name}: no job to look at: it does not run",
                help="to see your jobs, type: flux jobs",
                kind="gone",
            )
        # From its input: a name in the command line may be taken for that of a job.
        return checked(said(["flux", "hostlist", "--expand"], _PACKAGE, self.name, f"{nodes}\n").split(), self.name)

    @property
    def job_variables(self) -> Dict[str, str]:
        """By which its processes are known."""
        return {"FLUX_JOB_ID": self.job}

    same = ()
    other = ()
    knows_all_nodes = True


@dataclass(frozen=True)
class FluxExec(Starter):
    """Runs agents beside a job."""

    job: str

    def command(self, nodes: Sequence[str], agent: Sequence[str]) -> List[str]:
        """Runs the agent once on each node.

        flux exec keeps what the nodes say until that is much (it writes with C's buffers), but for ``stdbuf``.
        """
        where: List[str] = []
        known = Flux(self.job).nodes()
        if len(nodes) < len(known):
            at = {node: index for index, node in enumerate(known)}
            where = ["--rank=" + ",".join(str(at[node]) for node in nodes if node in at)]
        return [
            "stdbuf",
            "--output=L",
            "flux",
            "exec",
            "--label-io",
            "--dir=/",
            f"--jobid={self.job}",
            *where,
            *agent,
        ]

    def fetching(self, node: str, path: str) -> str:
        """Copies a file from a node."""
        where = [f"--rank={at}" for at, one in enumerate(self.of.nodes()) if one == node]
        copied = shlex.join(["flux", "exec", f"--jobid={self.of.job}", *where, "cat", path])
        return f"{copied} > {shlex.quote(os.path.basename(path))}"

    @property
    def environment(self) -> Mapping[str, str]:
        """None."""
        return {}

    def failed(self, line: str) -> Optional[str]:
        """No node: lines name ranks of brokers."""
        return None
