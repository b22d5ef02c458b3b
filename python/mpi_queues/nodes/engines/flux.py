"""flux: jobs, and flux exec, which runs agents beside them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Dict, List, Mapping, Sequence

from ...errors import UserError
from .base import BatchSystem, Nodes, Starter, checked, copied, user

_FLUX = BatchSystem("install flux-core", "flux jobs")

#: What flux exec says where a program could not be started or has been lost (flux-framework/flux-core,
#: src/cmd/flux-exec.c, ``state_cb``, 0.88): with the broker's rank, whatever the job.
_LOST = re.compile(r"flux-exec: Error: rank (\d{1,9}): .*")


#: A part of a set of numbers (flux-framework/rfc, spec 22: ``0-3,7``).
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")


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
        state, _, nodes = self.listed("{state} {nodelist}").strip().partition(" ")
        if state not in ("RUN", "CLEANUP") or not nodes:
            raise _FLUX.no_job(self.name, "it is not running")
        # From its input: a name in the command line may be taken for that of a job.
        names = _FLUX.says(self.name, "flux", "hostlist", "--expand", "-", given=f"{nodes}\n")
        return checked(names.split(), self.name)

    def listed(self, form: str) -> str:
        """What flux says of it in a form.

        Raises:
            UserError: where there is no such job, or flux does not say.
        """
        return _FLUX.says(self.name, "flux", "jobs", "--no-header", f"--format={form}", self.job)

    def owner(self) -> int:
        """Who has submitted it.

        Raises:
            UserError: where flux does not say.
        """
        return user(self.listed("{userid}"), self.name)

    @property
    def job_variables(self) -> Dict[str, str]:
        """None: see ``one_of``."""
        return {}

    @property
    def one_of(self) -> Mapping[str, Sequence[str]]:
        """Its number in base 58, however the user has written it.

        Which f it begins with hangs on where it is written (flux-framework/flux-core 0.88: src/shell/shell.c sets
        FLUX_JOB_ID by ``idf58``; src/common/libutil/fluid.c, ``fluid_f58_encode``).

        Raises:
            UserError: where flux does not know such a number.
        """
        number = _FLUX.says(self.name, "flux", "job", "id", "--to=f58", self.job).strip()[1:40]
        return {"FLUX_JOB_ID": [f"{letter}{number}" for letter in ("f", "\u0192")]}

    same = ()
    other = ()
    knows_all_nodes = True


@dataclass(frozen=True)
class FluxExec(Starter):
    """Runs agents beside a job."""

    called = "flux"
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
        where = [f"--rank={at}" for at, one in enumerate(Flux(self.job).nodes()) if one == node]
        return copied(["flux", "exec", f"--jobid={self.job}", *where, "cat", path], path)

    @property
    def environment(self) -> Mapping[str, str]:
        """None."""
        return {}

    def failed(self, line: str) -> Sequence[str]:
        """The node on which nothing runs any more."""
        match = _LOST.fullmatch(line)
        node = _brokers(self.job).get(int(match[1])) if match else None
        return () if node is None else [node]


@lru_cache(maxsize=8)
def _brokers(job: str) -> Dict[int, str]:
    """The nodes of a job by the ranks of their brokers; none where flux does not say."""
    flux = Flux(job)
    try:
        nodes = flux.nodes()
        ranks = flux.listed("{ranks}").strip()
    except UserError:
        return {}
    found: List[int] = []
    for first, last in _RANGE.findall(ranks):
        found += range(int(first), min(int(last or first), int(first) + len(nodes)) + 1)
        if len(found) > len(nodes):
            break
    return dict(zip(found, nodes)) if len(found) == len(nodes) else {}
