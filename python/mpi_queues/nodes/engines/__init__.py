"""The clusters' own engines, which start one agent on each node: Slurm's srun, flux, LSF's blaunch, ssh, ClusterShell.

Nothing here connects machines: what an engine lets the user do is what is done.
"""

from __future__ import annotations

import getpass
import os
import re
import shutil
import subprocess
from typing import Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ...errors import UsageError
from ...system import commands
from ...system.paths import shown
from . import lsf
from .base import Engine, Nodes, Reached, Starter
from .clustershell import Clush, NodeSet
from .flux import Flux, FluxExec
from .lsf import Lsf
from .one_by_one import BLAUNCH, SSH
from .pals import APPLICATION, Pals
from .pbs import Pbs
from .slurm import Slurm, Srun
from .table import Table, TableOfSrun

__all__ = ["AUTO", "ENGINES", "PREFIXES", "Engine", "engine_of", "engine_of_launcher", "running"]

#: How a job of many nodes is named.
PREFIXES = ("slurm:", "flux:", "pbs:", "lsf:", "pals:", "hosts:")

#: The engines that the user may choose.
AUTO = "auto"
ENGINES = (AUTO, "srun", "flux", "blaunch", "ssh", "clush")

#: Of a launcher, where there are several, in this order: by the job's own batch system, else by names.
_ORDER = ("srun", "flux", "blaunch", "clush", "ssh")

#: Those that reach nodes within a job alone, and how that is called.
_WITHIN = {"srun": "an allocation of Slurm", "blaunch": "the job of LSF"}


def engine_of(job: str, engine: str = AUTO) -> Engine:
    """The engine for a job as it is named on the command line: of its own kind, or the one that is named.

    Raises:
        UsageError: where nothing is named so, or where that engine does not reach such a job.
    """
    of = _nodes(job)
    by_names: Dict[str, Starter] = {"clush": Clush(), "ssh": SSH}
    own = _own(of)
    if engine == AUTO:
        # Nodes that are named need ClusterShell anyway; ssh needs nothing else.
        return Reached(of, next(iter(own.values()), by_names["clush" if isinstance(of, NodeSet) else "ssh"]))
    there = {**by_names, **own}
    if isinstance(of, NodeSet) and engine in _WITHIN:
        there.update(_of_batch_system(os.environ))
    if engine not in there:
        within = isinstance(of, NodeSet) or (isinstance(of, Lsf) and engine == BLAUNCH.called)
        outside = f" outside {_WITHIN[engine]}" if within and engine in _WITHIN else ""
        raise UsageError(
            f"{shown(job)}: {engine} does not reach its nodes{outside}",
            help=f"type: --engine {' or --engine '.join(sorted(there))}",
        )
    return Reached(of, there[engine])


def _own(of: Nodes) -> Dict[str, Starter]:
    """What the batch system of a job has to reach its nodes."""
    if isinstance(of, Slurm):
        return {"srun": Srun(of.job)}
    if isinstance(of, Flux):
        return {"flux": FluxExec(of.job)}
    if isinstance(of, Lsf) and of.is_in(os.environ):
        return {"blaunch": BLAUNCH}
    return {}


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
    if engine == "ssh":
        there["ssh"] = SSH
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
    if lsf.of_environment(environment):
        there["blaunch"] = BLAUNCH
    if "PBS_JOBID" in environment:
        there["ssh"] = SSH
    return there


_SLURM = re.compile(r"(\d{1,10})(?:\.(\d{1,10}|batch|extern|interactive))?", re.ASCII)
_FLUX = re.compile(r"[A-Za-z0-9\u0192][A-Za-z0-9\u0192.-]{0,39}")
_PBS = re.compile(r"\d{1,12}(?:\[\d{1,9}\])?(?:\.[A-Za-z0-9][A-Za-z0-9.-]{0,252})?", re.ASCII)
_LSF = re.compile(r"(\d{1,12})(?:\[(\d{1,9})\])?", re.ASCII)
_PALS = re.compile(rf"(?:({_PBS.pattern}):)?({APPLICATION.pattern})|({_PBS.pattern})", re.ASCII)


#: In a command: who asks.
_USER = "$USER"

#: Seconds in which jobs are listed, and bytes of the list.
_LISTING, _MOST = 1.5, 1 << 16


class _Form(NamedTuple):
    """How the jobs of a batch system are named and listed."""

    system: str
    names: re.Pattern[str]
    nodes: Callable[[re.Match[str]], Nodes]
    #: What a person types.
    typed: str
    #: What lists the jobs of this user that run, one on each line, by the number alone.
    running: Tuple[str, ...] = ()


_FORMS = {
    "slurm": _Form(
        "Slurm",
        _SLURM,
        lambda match: Slurm(match[1], match[2] or ""),
        "slurm:JOBID or slurm:JOBID.STEP",
        ("squeue", "--me", "--noheader", "--states=RUNNING", "--format=%A"),
    ),
    "flux": _Form(
        "flux",
        _FLUX,
        lambda match: Flux(match[0]),
        "flux:JOBID",
        ("flux", "jobs", "--no-header", "--filter=running", "--format={id.f58}"),
    ),
    "pbs": _Form(
        "PBS",
        _PBS,
        lambda match: Pbs(match[0]),
        "pbs:JOBID, of an array 'pbs:JOBID[INDEX]'",
        ("qselect", "-s", "R", "-u", _USER),
    ),
    "lsf": _Form(
        "LSF",
        _LSF,
        lambda match: Lsf(match[1], match[2] or ""),
        "lsf:JOBID, of an array 'lsf:JOBID[INDEX]'",
        ("bjobs", "-r", "-noheader", "-o", "jobid"),
    ),
    "pals": _Form(
        "PALS",
        _PALS,
        lambda match: Pals(match[2] or "", match[1] or match[3] or ""),
        "pals:JOBID of PBS, pals:JOBID:APID, or within the job pals:APID",
    ),
}


def running(most: int) -> List[str]:
    """Names the jobs of this user that the batch systems run whose commands are here; at most so many of each."""
    return [f"{kind}:{job}" for kind, form in _FORMS.items() for job in _running(form)[:most]]


def _running(form: _Form) -> List[str]:
    if not form.running or shutil.which(form.running[0]) is None:
        return []
    try:
        command = [getpass.getuser() if word == _USER else word for word in form.running]
        listed = commands.said(command, _LISTING, _MOST).out.decode("utf-8", "replace").split()
    except (OSError, KeyError, subprocess.TimeoutExpired):
        return []
    return [job for job in listed if form.names.fullmatch(job)]


def _nodes(job: str) -> Nodes:
    kind, _, name = job.partition(":")
    if kind in _FORMS:
        form = _FORMS[kind]
        match = form.names.fullmatch(name)
        if match:
            return form.nodes(match)
        raise UsageError(f"{shown(job)}: not a job of {form.system}", help=f"type: --job {form.typed}")
    login, nodes = _split(name)
    if not nodes or nodes.startswith("-") or not nodes.isprintable() or " " in nodes:
        raise UsageError(f"{shown(job)}: not a set of nodes", help="type for instance: --job hosts:node[1-40]")
    return NodeSet(nodes, login)


def _split(name: str) -> Tuple[str, str]:
    """The user, where one is named, and the nodes: ``alice@node[1-4]``. A group's name begins with its ``@``."""
    match = re.fullmatch(r"([A-Za-z_][A-Za-z0-9_.-]{0,31}\$?)@(.+)", name)
    return (match[1], match[2]) if match else ("", name)
