"""The clusters' own engines, which start one agent on each node: Slurm's srun, ClusterShell's clush, flux.

Nothing here connects machines: what an engine lets the user do is what is done.
"""

from __future__ import annotations

import re

from ...errors import UsageError
from ...system.paths import shown
from .base import Engine, Reached
from .clustershell import Clush, NodeSet
from .flux import Flux, FluxExec
from .slurm import Slurm, Srun

__all__ = ["PREFIXES", "Engine", "engine_of"]

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
            return Reached(Slurm(match[1], match[2] or ""), Srun(match[1]))
        raise UsageError(f"{shown(job)}: not a job of Slurm", help="type: --job slurm:JOBID or slurm:JOBID.STEP")
    if kind == "flux":
        if re.fullmatch(r"[A-Za-z0-9\u0192.-]{1,40}", name) and not name.startswith("-"):
            return Reached(Flux(name), FluxExec(Flux(name)))
        raise UsageError(f"{shown(job)}: not a job of flux", help="type: --job flux:JOBID")
    if not name or name.startswith("-") or not name.isprintable() or " " in name:
        raise UsageError(f"{shown(job)}: not a set of nodes", help="type for instance: --job hosts:node[1-40]")
    return Reached(NodeSet(name), Clush())
