"""What Python programs call: snapshots of live processes, of core files and of recordings.

What takes time to import is imported by the functions: pytest and the debuggers load this package at their start.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Optional, Sequence, Tuple, Union

from ._native import Snapshot
from .errors import UsageError

if TYPE_CHECKING:
    from .request import Request
    from .targets.target import Target

Path = Union[str, "os.PathLike[str]"]


def attach(
    pid: Union[int, Sequence[int], None] = None,
    *,
    job: Union[int, str, None] = None,
    via: str = "auto",
    source: str = "auto",
    plugin: Optional[Path] = None,
    timeout: float = 60.0,
    handles: Sequence[str] = (),
    engine: str = "auto",
) -> Snapshot:
    """Reads live processes of this machine. They are stopped while they are read, and go on.

    Args:
        pid: a process id, or several.
        job: all ranks of a job whose launcher runs on this machine, by its process id (or that of anything of the job),
            or by its name. They are stopped together, so that what their queues say fits together; a rank that
            cannot be read is a process with its ``problems``. Or its ranks on all its nodes: ``"slurm:1234"``,
            ``"flux:ID"``, ``"pbs:1234"``, ``"lsf:1234"``, ``"pals:1234"``, ``"hosts:NODESET"``.
        via: ``auto`` or ``native``: nothing else reads.
        source: who reads: ``auto`` and ``builtin`` are the built-in reader, ``plugin`` the MPI vendor's plug-in.
        plugin: the path of that plug-in; it is searched for where it is None.
        timeout: seconds that the reading of one process may take.
        handles: kinds of handles whose objects are read as well, such as ``comm`` or ``datatype``; ``Process.handles``
            has them.
        engine: what starts agents on other nodes: ``srun``, ``flux``, ``blaunch``, ``ssh``, ``clush``; ``auto``: what
            the job is of.

    Returns:
        The snapshot; its ``problems`` say which of several processes could not be read.

    Raises:
        UserError: where none could be read, with the reason and what to type.
        UsageError: for arguments that make no sense.

    Examples:
        >>> mpi_queues.attach(pid=[pid_of_rank_0, pid_of_rank_1])
        <mpi_queues.Snapshot of 2 processes>
    """
    from .targets.process import PidTarget

    if job is not None:
        return _read(_job_targets(pid, job, engine), via, source, plugin, timeout, handles)
    pids = [pid] if isinstance(pid, int) else list(pid or [])
    for one in pids:
        if not isinstance(one, int) or isinstance(one, bool) or not 0 < one < 1 << 31:
            raise UsageError(f"{one!r} is not a process id", help="such as attach(pid=4242)")
    if not pids:
        raise UsageError("no process is named", help="such as attach(pid=[4242, 4243]), or attach(job=4242)")
    return _read([PidTarget(one) for one in dict.fromkeys(pids)], via, source, plugin, timeout, handles)


def _job_targets(pid: object, job: object, engine: str) -> Sequence[Target]:
    from .launchers import job as acquisition
    from .nodes.engines import ENGINES, PREFIXES
    from .targets import jobs

    if pid is not None:
        raise UsageError("both a job and processes are named", help="such as attach(job=4242), or attach(pid=4242)")
    if isinstance(job, bool) or not isinstance(job, (int, str)) or (isinstance(job, int) and not 0 < job < 1 << 31):
        raise UsageError(f"{job!r} is neither a process id nor a name", help="such as attach(job=4242)")
    if engine not in ENGINES:
        raise UsageError(f"engine={engine!r}: not one of {', '.join(ENGINES)}")
    if isinstance(job, str) and job.startswith(PREFIXES):
        return [jobs.on_nodes(job, engine)]
    found = acquisition.find(str(job))
    return jobs.reaching_out(found, jobs.of_job(found), engine)


def open_core(
    core: Path,
    exe: Optional[Path] = None,
    *,
    via: str = "auto",
    source: str = "auto",
    plugin: Optional[Path] = None,
    timeout: float = 60.0,
    handles: Sequence[str] = (),
) -> Snapshot:
    """Reads the process that a core file shows.

    Args:
        core: the core file.
        exe: the program that dumped it; the one that the core names, where it is None.
        via: as for ``attach``, and so are the others.
        source: who reads.
        plugin: the path of the plug-in.
        timeout: seconds that the reading may take.
        handles: kinds of handles whose objects are read as well.

    Raises:
        UserError: where it cannot be read, with the reason and what to type.
        UsageError: for arguments that make no sense.

    Examples:
        >>> mpi_queues.open_core("core.1", "demo").rank(1).calls[0]["function"]
        'MPI_Wait'
    """
    from .targets.core import CoreTarget

    target = CoreTarget(os.fspath(core), None if exe is None else os.fspath(exe))
    return _read([target], via, source, plugin, timeout, handles)


def load(
    path: Path,
    *,
    source: str = "auto",
    plugin: Optional[Path] = None,
    timeout: float = 60.0,
    queues: bool = True,
    handles: Sequence[str] = (),
) -> Snapshot:
    """Reads what ``mpi-queues record`` wrote: needs no MPI, no debugger and not the program.

    Args:
        path: the recording.
        source: as for ``attach``, and so are the others.
        plugin: the path of the plug-in.
        timeout: seconds that the reading of one process may take.
        queues: whether to read the queues, or the communicators alone.
        handles: kinds of handles whose objects are read as well.

    Returns:
        The snapshot; its ``problems`` say what of a damaged recording could not be read.

    Raises:
        UserError: where the file is no recording, or nothing of it could be read.

    Examples:
        >>> mpi_queues.load("hang.mpirec").rank(2).communicator("halo").pending_sends
        <mpi_queues.Queue 1 operation: MPI_Issend, peer 1, tag 21, 8000 bytes, pending>
    """
    from .targets import report

    return report.load(path, replace(_request(source, plugin, timeout, handles), queues=queues))


def _source(source: str, plugin: Optional[Path]) -> Tuple[str, Optional[str]]:
    from .commands.plugins import existing_plugin

    if source not in ("auto", "builtin", "plugin", "recorder"):
        raise UsageError(f"source={source!r}: not one of auto, builtin, plugin, recorder")
    if plugin is None:
        return source, None
    if source in ("builtin", "recorder"):
        named = "the built-in reader" if source == "builtin" else "what the flight recorder has seen"
        raise UsageError(f"{named} uses no plug-in", help='leave out plugin=, or say source="plugin"')
    return "plugin", existing_plugin(os.fspath(plugin), 'leave out plugin= to have it searched for: source="plugin"')


def _request(source: str, plugin: Optional[Path], timeout: float, handles: Sequence[str]) -> Request:
    from .request import Request

    kind, path = _source(source, plugin)
    wanted = tuple((word, None) for word in _kinds(handles))
    return Request(source=kind, plugin=path, stacks=True, wanted=wanted, timeout=timeout)


def _kinds(handles: Sequence[str]) -> Tuple[str, ...]:
    from .handle_types import kinds_of

    if isinstance(handles, str):
        raise UsageError(f"handles={handles!r}: not a list of kinds", help=f"such as handles=[{handles!r}]")
    return kinds_of(handles)


def _read(
    targets: Sequence[Target], via: str, source: str, plugin: Optional[Path], timeout: float, handles: Sequence[str]
) -> Snapshot:
    from .nodes import reading as nodes
    from .targets import asking
    from .targets.reading import VIA, via_instead

    if via not in VIA:
        raise UsageError(f"via: {via_instead(via)}")
    if not 0 < timeout <= 86400:
        raise UsageError(f"timeout={timeout!r}: not a number of seconds between 0 and 86400")
    request = _request(source, plugin, timeout, handles)
    try:
        found = asking.snapshots(targets, request, quiet=True)
    finally:
        # Only the command line looks twice by itself.
        nodes.close_all()
    found.check()
    return found.merged()
