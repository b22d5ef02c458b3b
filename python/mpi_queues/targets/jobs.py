"""The ranks of jobs as targets."""

from __future__ import annotations

import os
from typing import Dict, List, Optional, Sequence

from .._native import slurm_job
from ..errors import UserError
from ..launchers import ended
from ..launchers import job as acquisition
from ..launchers.model import Job, RankEntry, numbered_through
from ..launchers.tree import ProcessTree
from ..nodes.engines import AUTO as ANY_ENGINE
from ..nodes.engines import PREFIXES, engine_of, engine_of_launcher
from ..system import advice
from ..system.deadline import within
from .lost import LeftOutTarget, LostTarget
from .nodes import NodesTarget
from .process import PidTarget
from .target import Place, Target


def found_job(name: Optional[str], timeout: float) -> Job:
    """The job of that name, or the only one, found within so many seconds: what processes tell of themselves may take
    as long as they like.

    Raises:
        UserError: where there is none, or where it takes longer.
    """
    what = f"finding the ranks of {name}" if name is not None else "finding the jobs of this machine"
    return within(timeout, what, lambda: acquisition.find(name))


def of_job(job: Job, *, several: Optional[bool] = None) -> List[Target]:
    """Each rank of a job: those of this machine are read, of the others is told why they are not.

    ``several``: whether there are several worlds, where other jobs are read with it.
    """
    over = ended.told(job)
    if over is not None:
        kill = f"to see them, type: mpi-queues ranks {job.pid}; to end the launcher: kill {job.pid}"
        return [LeftOutTarget(UserError(over, help=kill, kind="gone"))]
    sizes = {world.number: world.size for world in job.worlds}
    several = len(job.worlds) > 1 if several is None else several
    worlds = {world.number: world for world in job.worlds} if several else {}
    found: List[Target] = []
    for entry in job.ranks:
        universe = job.universe_index(entry) if several else None
        place = Place(entry, sizes.get(entry.world), universe, worlds.get(entry.world))
        if entry.here and entry.pid is not None and entry.state not in ("ended", "zombie"):
            found.append(PidTarget(entry.pid, place))
        else:
            found.append(LostTarget(place, _lost(job, entry)))
    found += [LeftOutTarget(UserError(reason, kind="other_user")) for reason in job.left_out]
    return found


def reaching_out(job: Job, found: Sequence[Target], engine: str = ANY_ENGINE) -> List[Target]:
    """The same where an engine reaches the other hosts of a job, by what there is: as one target of many nodes.

    Where hosts are named by a launcher of another user, nothing is connected to unless ``engine`` is named.

    Raises:
        UserError: where ``engine`` is named, and does not.
    """
    away = [one for one in found if isinstance(one, LostTarget) and one.reason.kind == "out_of_reach"]
    # Of several worlds it is not known which one a process of another host is in.
    tree = ProcessTree()
    users = tree.users(job.pid)
    is_mine = users is not None and users[1] == os.geteuid()
    if not away or len(job.worlds) > 1 or (engine == ANY_ENGINE and not is_mine) or users is None:
        return list(found)
    places = [(str(one.place.entry.host), one.place.entry.pid or 0) for one in away]
    environment = tree.environment(job.pid) or {}
    name = f"{job.launcher} (pid {job.pid})"
    chosen = engine_of_launcher(name, environment, places, engine, slurm_job(job.pid), user=users[0])
    if chosen is None:
        if engine == ANY_ENGINE:
            return list(found)
        raise UserError(
            f"{name}: {engine} does not reach its other hosts from here",
            help="leave out --engine, or name the nodes: --job hosts:NODESET",
            kind="no_engine",
        )
    return [*(one for one in found if one not in away), NodesTarget(name, chosen, tuple(away))]


def _lost(job: Job, entry: RankEntry) -> UserError:
    if entry.pid is not None and not entry.here:
        return UserError(
            f"{entry.name}: pid {entry.pid} on host {entry.host}, out of reach from here",
            help=f"type on {entry.host}: {advice.of_process(entry.pid)}",
            kind="out_of_reach",
        )
    reason = entry.problem or f"it has ended (pid {entry.pid})"
    # Here and without a process id, but not ended: the process that says to be it is not the user's.
    kind = "other_user" if entry.here and entry.pid is None and entry.state == "unknown" else "gone"
    return UserError(f"{entry.name}: {reason}", help=f"to see the ranks, type: mpi-queues ranks {job.pid}", kind=kind)


def of_jobs(names: Sequence[str], timeout: float, engine: str) -> Dict[str, List[Target]]:
    """The ranks of each job, by what it was called; of one that has several names by the first of these.

    The worlds of several jobs are numbered through, those of the first job first: they may have connected.

    Raises:
        UserError: for a job that is not there.
    """
    told: Dict[str, List[Target]] = {name: [on_nodes(name, engine)] for name in names if name.startswith(PREFIXES)}
    found: Dict[str, Job] = {}
    for name in dict.fromkeys(name for name in names if name not in told):
        job = found_job(name, timeout)
        if all(job.pid != other.pid for other in found.values()):
            found[name] = job
    numbered = numbered_through(list(found.values()))
    several = sum(len(job.worlds) for job in numbered) > 1
    for name, job in zip(found, numbered):
        ranks = of_job(job, several=several)
        told[name] = ranks if several else reaching_out(job, ranks, engine)
    return told


def on_nodes(name: str, engine: str) -> NodesTarget:
    """The ranks of a job that is named by its nodes or its batch system.

    Raises:
        UsageError: where nothing is named so, or where that engine does not reach such a job.
    """
    return NodesTarget(name, engine_of(name, engine))
