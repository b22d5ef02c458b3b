"""TARGET on the command line: which processes are meant."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from ._native import slurm_job
from .errors import UsageError, UserError
from .launchers import ended
from .launchers import job as acquisition
from .launchers.model import Job, RankEntry, World, numbered_through
from .launchers.tree import ProcessTree
from .nodes.engines import AUTO as ANY_ENGINE
from .nodes.engines import ENGINES, PREFIXES, Engine, engine_of, engine_of_launcher
from .system.deadline import within
from .system.paths import shown

#: What may be wanted to read processes and core files: there is but mpi-queues itself.
VIA = ("auto", "native")


@dataclass(frozen=True)
class Place:
    """A process in its job."""

    entry: RankEntry
    #: Number of processes of its world; None where nobody tells it.
    world_size: Optional[int]
    #: Its place in the universe of a job of several worlds; None where there is but one, or it is not known.
    universe_rank: Optional[int]
    #: Process id of the launcher.
    job: int
    #: Its world, in a job of several.
    world: Optional[World] = None


@dataclass(frozen=True)
class PidTarget:
    """A live process of this machine."""

    pid: int
    #: Its place in its job, where it was named by that.
    place: Optional[Place] = None

    @property
    def label(self) -> str:
        """How messages name it."""
        return f"{self.place.entry.name} (pid {self.pid})" if self.place else f"pid {self.pid}"


@dataclass(frozen=True)
class CoreTarget:
    """A core file, and the program that dumped it where the user named it."""

    core: str
    exe: Optional[str] = None

    @property
    def label(self) -> str:
        """How messages name it."""
        return shown(self.core)


@dataclass(frozen=True)
class RecordingTarget:
    """All processes of a recording."""

    path: str

    @property
    def label(self) -> str:
        """How messages name it."""
        return shown(self.path)


@dataclass(frozen=True)
class LostTarget:
    """A rank of a job that cannot be read from here."""

    place: Place
    reason: UserError

    @property
    def label(self) -> str:
        """How messages name it."""
        return self.place.entry.name


@dataclass(frozen=True)
class LeftOutTarget:
    """A process that is not read as a rank of a job, because it is another user's."""

    reason: UserError

    @property
    def label(self) -> str:
        """How messages name it."""
        return str(self.reason.args[0])


@dataclass(frozen=True)
class JobTarget:
    """All ranks of a job, by its launcher: a process id or a name."""

    job: str


@dataclass(frozen=True)
class NodesTarget:
    """All ranks of a job on all its nodes, as the cluster's engine names it; or those on other hosts of a job whose
    launcher is here."""

    job: str
    engine: Engine = field(compare=False)
    #: The ranks that are on other hosts, as they are told of where these are not reached.
    elsewhere: Tuple[LostTarget, ...] = field(default=(), compare=False)

    @property
    def label(self) -> str:
        """How messages name it."""
        return shown(self.job)


Target = Union[PidTarget, CoreTarget, RecordingTarget, LostTarget, LeftOutTarget, NodesTarget]


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
        place = Place(entry, sizes.get(entry.world), universe, job.pid, worlds.get(entry.world))
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
            f"{name}: {engine} does not reach the other hosts of it from here",
            help="leave out --engine, or name the nodes: --job hosts:NODESET",
            kind="no_engine",
        )
    return [*(one for one in found if one not in away), NodesTarget(name, chosen, tuple(away))]


def _lost(job: Job, entry: RankEntry) -> UserError:
    if entry.pid is not None and not entry.here:
        return UserError(
            f"{entry.name}: pid {entry.pid} on host {entry.host}, out of reach from here",
            help=f"type on {entry.host}: mpi-queues show --pid {entry.pid}",
            kind="out_of_reach",
        )
    reason = entry.problem or f"it has ended (pid {entry.pid})"
    # Here and without a process id, but not ended: the process that says to be it is not the user's.
    kind = "other_user" if entry.here and entry.pid is None and entry.state == "unknown" else "gone"
    return UserError(f"{entry.name}: {reason}", help=f"to see the ranks, type: mpi-queues ranks {job.pid}", kind=kind)


def _via(text: str) -> str:
    if text in VIA:
        return text
    raise argparse.ArgumentTypeError(via_instead(text))


def via_instead(text: str) -> str:
    """What to do where somebody wants to have something else read than mpi-queues itself."""
    how = {"gdb": "gdb -p PID", "lldb": "lldb -p PID"}.get(text)
    if how is None:
        return f"{shown(text)}: not one of {', '.join(VIA)}"
    return f"no debugger reads for the command line; start one yourself ({how}) and type in it: mpi diagnose"


def _layouts(text: str) -> str:
    path = os.path.abspath(text)
    if not os.path.isfile(path):
        raise argparse.ArgumentTypeError(f"{shown(text)}: no such file")
    return path


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options that name targets; they go to ``options.targets``, in the order in which they were given."""
    group = parser.add_argument_group("target", "what is read; each may be repeated, and mixed with the others")
    parser.set_defaults(targets=[])
    group.add_argument("--pid", type=_pid, action=_Append, metavar="PID", help="a live process")
    group.add_argument("--core", action=_Append, metavar="CORE", help="a core file")
    group.add_argument(
        "--exe",
        action=_Append,
        metavar="EXE",
        help="the program of the core file before it (default: as the core says)",
    )
    group.add_argument("--recording", action=_Append, metavar="FILE", help="what mpi-queues record wrote")
    group.add_argument(
        "--job",
        action=_Append,
        metavar="JOB",
        help="all ranks of a job: process id or name of its launcher on this machine (see: mpi-queues ranks), or "
        "slurm:JOBID, slurm:JOBID.STEP, flux:JOBID, hosts:NODESET, hosts:USER@NODESET",
    )
    add_engine(group)
    group.add_argument(
        "--via",
        type=_via,
        default="auto",
        metavar="auto|native",
        help="who reads processes and core files: auto and native both mean mpi-queues itself (in gdb and lldb type: "
        "mpi diagnose)",
    )
    group.add_argument(
        "--layouts",
        type=_layouts,
        metavar="FILE",
        help="a layout profile for processes and cores, instead of the shipped ones (see: mpi-queues layouts make)",
    )
    add_timeout(group, "limit for each process, and for the whole time that ranks of a job are stopped (default: 60)")


def add_engine(parser: Any) -> None:
    """Adds ``--engine``."""
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        default=ANY_ENGINE,
        help="what starts agents on other nodes: srun, flux or ClusterShell's clush (default: the job's own)",
    )


def add_timeout(parser: Any, help_text: str) -> None:
    """Adds ``--timeout``."""
    parser.add_argument("--timeout", type=_seconds, default=60.0, metavar="SECONDS", help=help_text)


def requested(options: argparse.Namespace) -> List[Target]:
    """The targets asked for, each once.

    Raises:
        UsageError: where there is none.
        UserError: for a job that is not there.
    """
    for target in options.targets:
        if isinstance(target, _Program):
            raise UsageError(
                f"--exe {shown(target.path)} does not follow the core file that it belongs to",
                help=f"type: --core CORE --exe {shown(target.path)}",
            )
    if not options.targets:
        raise UsageError(
            "no target is named", help="name some: --job JOB, --pid PID, --core CORE --exe EXE, --recording FILE"
        )
    wanted: Dict[Tuple[str, Any], Target] = {}
    names = [target.job for target in options.targets if isinstance(target, JobTarget)]
    many = {name: [NodesTarget(name, engine_of(name, options.engine))] for name in names if name.startswith(PREFIXES)}
    jobs: Dict[str, List[Target]] = {
        **_jobs([name for name in names if name not in many], options.timeout, options.engine),
        **{name: [*found] for name, found in many.items()},
    }
    for target in options.targets:
        for one in jobs.pop(target.job, []) if isinstance(target, JobTarget) else [target]:
            # A process that is named alone, too, is read as the rank that it is.
            key = ("pid", one.pid) if isinstance(one, PidTarget) else ("other", one)
            if wanted.get(key) is None or (isinstance(one, PidTarget) and one.place is not None):
                wanted[key] = one
    return list(wanted.values())


def found_job(name: Optional[str], timeout: float) -> Job:
    """The job of that name, or the only one, found within so many seconds: what processes tell of themselves may take
    as long as they like.

    Raises:
        UserError: where there is none, or where it takes longer.
    """
    what = f"finding the ranks of {name}" if name is not None else "finding the jobs of this machine"
    return within(timeout, what, lambda: acquisition.find(name))


def _jobs(names: Sequence[str], timeout: float, engine: str) -> Dict[str, List[Target]]:
    """The ranks of each job, by what it was called; of one that has several names by the first of these.

    The worlds of several jobs are numbered through, those of the first job first: they may have connected.
    """
    found: Dict[str, Job] = {}
    for name in dict.fromkeys(names):
        job = found_job(name, timeout)
        if all(job.pid != other.pid for other in found.values()):
            found[name] = job
    numbered = numbered_through(list(found.values()))
    several = sum(len(job.worlds) for job in numbered) > 1
    return {
        name: ranks if several else reaching_out(job, ranks, engine)
        for name, job in zip(found, numbered)
        for ranks in [of_job(job, several=several)]
    }


@dataclass(frozen=True)
class _Program:
    """An ``--exe`` that has no core file before it."""

    path: str


class _Append(argparse.Action):
    """Keeps the options in order, because an ``--exe`` belongs to the ``--core`` before it."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Optional[str] = None) -> None:
        # A list of its own: the default is shared.
        targets = list(namespace.targets)
        if self.dest == "exe":
            last = targets[-1] if targets else None
            if isinstance(last, CoreTarget) and last.exe is None:
                targets[-1] = CoreTarget(last.core, values)
            else:
                targets.append(_Program(values))
        else:
            kinds: Dict[str, Any] = {
                "pid": PidTarget,
                "core": CoreTarget,
                "recording": RecordingTarget,
                "job": JobTarget,
            }
            targets.append(kinds[self.dest](values))
        namespace.targets = targets


def _pid(text: str) -> int:
    try:
        pid = int(text)
    except ValueError:
        pid = 0
    if not 0 < pid < 1 << 31:
        raise argparse.ArgumentTypeError(f"{text}: not a process id")
    return pid


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86400:
        raise argparse.ArgumentTypeError(f"{text}: not a number of seconds between 0 and 86400")
    return seconds
