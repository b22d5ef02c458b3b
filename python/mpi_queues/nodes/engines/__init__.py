"""The clusters' own engines, which start one agent on each node: Slurm's srun, ClusterShell's clush, flux.

Nothing here connects machines: what an engine lets the user do is what is done.
"""

from __future__ import annotations

import os
import re
import shutil
from typing import Dict, Mapping, Optional, Sequence, Tuple

from ...errors import UsageError
from ...system.paths import shown
from .base import Engine, Nodes, Reached, Starter
from .clustershell import Clush, NodeSet
from .flux import Flux, FluxExec
from .slurm import Slurm, Srun
from .table import Table, TableOfSrun

__all__ = ["AUTO", "ENGINES", "PREFIXES", "Engine", "engine_of", "engine_of_launcher"]

#: How a job of many nodes is named.
PREFIXES = ("slurm:", "flux:", "hosts:")

#: The engines that the user may choose.
AUTO = "auto"
ENGINES = (AUTO, "srun", "clush", "flux")

#: Where there are several, in this order: by the job's own batch system, else by names.
_ORDER = ("srun", "flux", "clush")


def engine_of(job: str, engine: str = AUTO) -> Engine:
    """The engine for a job as it is named on the command line: of its own kind, or the one that is named.

    Raises:
        UsageError: where nothing is named so, or where that engine does not reach such a job.
    """
    of = _nodes(job)
    there: Dict[str, Starter] = {"clush": Clush()}
    if isinstance(of, Slurm):
        there["srun"] = Srun(of.job)
    elif isinstance(of, Flux):
        there["flux"] = FluxExec(of.job)
    elif engine == "srun":
        there.update(_of_batch_system(os.environ))
    if engine == AUTO:
        return Reached(of, next(there[name] for name in _ORDER if name in there))
    if engine not in there:
        allocation = " outside an allocation of Slurm" if engine == "srun" and isinstance(of, NodeSet) else ""
        raise UsageError(
            f"{shown(job)}: {engine} does not reach its nodes{allocation}",
            help=f"type: --engine {' or --engine '.join(sorted(there))}",
        )
    return Reached(of, there[engine])


def engine_of_launcher(
    name: str,
    environment: Mapping[str, str],
    places: Sequence[Tuple[str, int]],
    engine: str = AUTO,
    slurm_job: Optional[str] = None,
    *,
    user: int,
) -> Optional[Engine]:
    """The engine for processes of other hosts that a launcher of this machine has started; None where there is none.

    Args:
        name: how messages name the job.
        environment: the launcher's: it tells in which job of a batch system it is.
        places: the processes, by host and process id.
        engine: the one that is to be taken.
        slurm_job: of an srun the number of its job. Where it has asked for the nodes itself, it is in none.
        user: the launcher's, by number.
    """
    there: Dict[str, Starter] = {**_of_batch_system(environment), "clush": Clush()}
    table = Table(name, tuple(places), user)
    if slurm_job is not None:
        there["srun"] = Srun(slurm_job)
        table = TableOfSrun(name, tuple(places), user, slurm_job)
    for one in _ORDER if engine == AUTO else (engine,):
        if one in there and shutil.which(one) is not None:
            return Reached(table, there[one])
    return None


def _of_batch_system(environment: Mapping[str, str]) -> Dict[str, Starter]:
    """By the job of a batch system in which a process is."""
    there: Dict[str, Starter] = {}
    slurm, flux = environment.get("SLURM_JOB_ID", ""), environment.get("FLUX_JOB_ID", "")
    if _SLURM.fullmatch(slurm):
        there["srun"] = Srun(slurm)
    if _FLUX.fullmatch(flux):
        there["flux"] = FluxExec(flux)
    return there


_SLURM = re.compile(r"(\d{1,10})(?:\.(\d{1,10}|batch|extern|interactive))?", re.ASCII)
_FLUX = re.compile(r"[A-Za-z0-9\u0192][A-Za-z0-9\u0192.-]{0,39}")


def _nodes(job: str) -> Nodes:
    kind, _, name = job.partition(":")
    if kind == "slurm":
        match = _SLURM.fullmatch(name)
        if match:
            return Slurm(match[1], match[2] or "")
        raise UsageError(f"{shown(job)}: not a job of Slurm", help="type: --job slurm:JOBID or slurm:JOBID.STEP")
    if kind == "flux":
        if _FLUX.fullmatch(name):
            return Flux(name)
        raise UsageError(f"{shown(job)}: not a job of flux", help="type: --job flux:JOBID")
    login, nodes = _split(name)
    if not nodes or nodes.startswith("-") or not nodes.isprintable() or " " in nodes:
        raise UsageError(f"{shown(job)}: not a set of nodes", help="type for instance: --job hosts:node[1-40]")
    return NodeSet(nodes, login)


def _split(name: str) -> Tuple[str, str]:
    """The user, where one is named, and the nodes: ``alice@node[1-4]``. A group's name begins with its ``@``."""
    match = re.fullmatch(r"([A-Za-z_][A-Za-z0-9_.-]{0,31}\$?)@(.+)", name)
    return (match[1], match[2]) if match else ("", name)
