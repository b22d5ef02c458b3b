"""The clusters' own engines, which start one agent on each node: Slurm's srun, ClusterShell's clush, flux.

Nothing here connects machines: what an engine lets the user do is what is done.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from typing import Dict, List, Protocol, Sequence

from ..errors import UsageError, UserError
from ..system.paths import shown

#: How long an engine may take to say which nodes there are, in seconds.
_ASKING = 30.0

#: At most so many nodes are taken from what an engine says.
MAX_NODES = 100_000


class Engine(Protocol):
    """What starts agents on the nodes of a job."""

    #: Variables of the environment that must be as the agent's own, and those that must not.
    same: Sequence[str]
    other: Sequence[str]
    #: Whether a job has no other nodes than those that it names.
    knows_all_nodes: bool

    @property
    def name(self) -> str:
        """How the user names the job."""

    @property
    def job_variables(self) -> Dict[str, str]:
        """Variables of the environment by which the job's processes are known."""

    def nodes(self) -> List[str]:
        """The nodes of the job.

        Raises:
            UserError: where there is no such job, or the engine does not say.
        """

    def command(self, nodes: Sequence[str], agent: Sequence[str]) -> List[str]:
        """What runs the agent once on each node, hands its input to each, and labels each line of its output."""

    def fetching(self, node: str, path: str) -> str:
        """What a person types to copy a file from a node."""


@dataclass(frozen=True)
class Slurm(Engine):
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
        listed = _said(["squeue", "--noheader", f"--jobs={self.job}", "--format=%T %N"], "slurm-client", self.name)
        words = listed.split()
        if len(words) != 2 or words[0] not in ("RUNNING", "SUSPENDED", "COMPLETING", "STOPPED"):
            state = f"it is {words[0].lower()}" if words else "Slurm has none of that number that runs"
            raise UserError(
                f"{self.name}: no job to look at: {shown(state)}",
                help="to see your jobs, type: squeue --me",
                kind="gone",
            )
        return _checked(
            _said(["scontrol", "show", "hostnames", words[1]], "slurm-client", self.name).split(), self.name
        )

    def command(self, nodes: Sequence[str], agent: Sequence[str]) -> List[str]:
        """Runs the agent once on each node, beside the job: without resources of its own."""
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
        return f"{shlex.join([*step, 'cat', path])} > {shlex.quote(os.path.basename(path))}"

    @property
    def job_variables(self) -> Dict[str, str]:
        """By which its processes are known."""
        return {"SLURM_JOB_ID": self.job, **({"SLURM_STEP_ID": self.step} if self.step else {})}

    #: On virtual nodes, which share one /proc, only the processes of the agent's own node count.
    same = ("SLURMD_NODENAME",)
    #: What the agent's own step has started is no rank.
    other = ("SLURM_JOB_ID", "SLURM_STEP_ID")
    knows_all_nodes = True


@dataclass(frozen=True)
class Hosts(Engine):
    """Nodes by their names, reached as ClusterShell is configured: by ssh, or whatever else."""

    nodeset: str

    @property
    def name(self) -> str:
        """How the user names it."""
        return f"hosts:{self.nodeset}"

    def nodes(self) -> List[str]:
        """All of them.

        Raises:
            UserError: where ClusterShell does not understand the name.
        """
        return _checked(_said(["nodeset", "--expand", self.nodeset], "clustershell", self.name).split(), self.name)

    def command(self, nodes: Sequence[str], agent: Sequence[str]) -> List[str]:
        """Runs the agent once on each node."""
        return ["clush", "-S", "-w", ",".join(nodes), shlex.join(agent)]

    def fetching(self, node: str, path: str) -> str:
        """Copies a file from a node."""
        return shlex.join(["clush", "-w", node, "--rcopy", path, "--dest", "."])

    @property
    def job_variables(self) -> Dict[str, str]:
        """None: every rank of the user that runs there is looked at."""
        return {}

    same = ()
    other = ()
    knows_all_nodes = False


@dataclass(frozen=True)
class Flux(Engine):
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
        listed = _said(["flux", "jobs", "--no-header", "--format={nodelist}", self.job], "flux-core", self.name)
        return _checked(
            _said(["flux", "hostlist", "--expand", listed.strip()], "flux-core", self.name).split(), self.name
        )

    def command(self, nodes: Sequence[str], agent: Sequence[str]) -> List[str]:
        """Runs the agent once on each node."""
        return ["flux", "exec", "--label-io", f"--jobid={self.job}", *agent]

    def fetching(self, node: str, path: str) -> str:
        """Copies a file from a node."""
        rank = shlex.join(["flux", "exec", f"--jobid={self.job}", "cat", path])
        return f"{rank} > {shlex.quote(os.path.basename(path))}   # on {node}"

    @property
    def job_variables(self) -> Dict[str, str]:
        """By which its processes are known."""
        return {"FLUX_JOB_ID": self.job}

    same = ()
    other = ()
    knows_all_nodes = True


#: How a job of many nodes is named.
PREFIXES = ("slurm:", "flux:", "hosts:")


def engine_of(job: str) -> Engine:
    """The engine for a job as it is named on the command line.

    Raises:
        UsageError: where nothing is named so.
    """
    kind, _, name = job.partition(":")
    if kind == "slurm":
        match = re.fullmatch(r"(\d{1,10})(?:\.(\d{1,10}|batch|extern|interactive))?", name)
        if match:
            return Slurm(match[1], match[2] or "")
        raise UsageError(f"{shown(job)}: not a job of Slurm", help="type: --job slurm:JOBID or slurm:JOBID.STEP")
    if kind == "flux":
        if re.fullmatch(r"[A-Za-z0-9\u0192.-]{1,40}", name) and not name.startswith("-"):
            return Flux(name)
        raise UsageError(f"{shown(job)}: not a job of flux", help="type: --job flux:JOBID")
    if not name or name.startswith("-") or not name.isprintable() or " " in name:
        raise UsageError(f"{shown(job)}: not a set of nodes", help="type for instance: --job hosts:node[1-40]")
    return Hosts(name)


def _said(command: Sequence[str], package: str, name: str) -> str:
    if shutil.which(command[0]) is None:
        raise UserError(
            f"{name}: {command[0]} is not here",
            help=f"type this where {command[0]} is: on a login node, or install {package}",
            kind="no_engine",
        )
    try:
        told = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_ASKING, check=False, errors="replace"
        )
    except subprocess.TimeoutExpired:
        raise UserError(f"{name}: {command[0]} did not answer within {_ASKING:g} seconds", kind="timeout") from None
    if told.returncode != 0:
        reason = " ".join(told.stderr.split())[:300] or f"it ended with status {told.returncode}"
        raise UserError(f"{name}: {shown(reason)}", help=f"what was asked: {shlex.join(command)}", kind="no_engine")
    return told.stdout


def _checked(nodes: Sequence[str], name: str) -> List[str]:
    """Names that can be put into a command line: what an engine says is not ours."""
    found = list(dict.fromkeys(nodes))
    if (
        not found
        or len(found) > MAX_NODES
        or not all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}", one) for one in found)
    ):
        raise UserError(f"{name}: these are no nodes: {shown(' '.join(nodes)[:200])}", kind="no_engine")
    return found
