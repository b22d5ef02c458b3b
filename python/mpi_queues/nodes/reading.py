"""The ranks of a job of many nodes, as snapshots."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Sequence, Tuple

from .._native import Snapshot
from ..errors import UserError
from ..request import AUTO, NATIVE, Request
from ..system import agent
from .agents import Look
from .engines import engine_of
from .gathering import Gathering, Progress

#: So many nodes are named in one sentence.
_MAX_NAMED = 8

#: A process by its host and its number.
Place = Tuple[str, int]

#: The agents that are asked, by the job as it was named: they are kept for a second look.
_OPEN: Dict[str, Gathering] = {}

#: What they said last.
_LAST: Dict[str, List[Look]] = {}


def open_job(job: str) -> Gathering:
    """The agents of a job, started where they were not yet.

    Raises:
        UsageError: where nothing is named so.
        UserError: where there is no such job, or no engine to reach its nodes.
    """
    if job not in _OPEN:
        _OPEN[job] = Gathering(engine_of(job), [str(agent.path())])
    return _OPEN[job]


def close_all() -> None:
    """Ends all agents."""
    _LAST.clear()
    while _OPEN:
        _OPEN.popitem()[1].close()


def begin(job: str, request: Request, between: float) -> None:
    """Lets the ranks of a job run on for so many seconds, and has them read again then; ``read`` gives that."""
    gathering = open_job(job)
    gathering.ask(
        timeout=request.timeout, between=between, stacks=request.action == "stacks", wrappers=request.wrappers
    )


def processes(job: str) -> List[Place]:
    """The live processes that were read last."""
    return [place for look in _LAST.get(job, []) for place in _places(look)]


def between(job: str) -> Tuple[List[Place], List[Place]]:
    """Of those that ran on before they were read last: through whose shared memory messages went, and which wanted a
    processor and had none."""
    moving: List[Place] = []
    hungry: List[Place] = []
    for look in _LAST.get(job, []):
        for found, name in ((moving, "moving"), (hungry, "hungry")):
            named = look.told.get(name)
            pids = set(named) if isinstance(named, list) and all(isinstance(pid, int) for pid in named) else set()
            found += [place for place in _places(look) if place[1] in pids]
    return moving, hungry


def _places(look: Look) -> List[Place]:
    return [(one.host, one.pid) for one in look.snapshot.processes if one.host is not None and one.pid is not None]


def read(job: str, request: Request, progress: Progress) -> Tuple[List[Look], List[Snapshot], List[UserError]]:
    """What the agents of a job say; the ranks that are missing, as processes with the reason; and why nothing was read.

    Raises:
        UserError: where the job or its nodes are not to be reached, or this cannot be asked of agents.
    """
    _check(job, request)
    gathering = open_job(job)
    if not gathering.is_asked:
        gathering.ask(timeout=request.timeout, stacks=request.action == "stacks", wrappers=request.wrappers)
    looks, silent = gathering.gather(progress)
    _LAST[job] = looks
    failures = [
        UserError(f"node {node}: {reason}", help=f"to see its state, type: sinfo -N -l -n {node}", kind="silent_node")
        if job.startswith("slurm:")
        else UserError(f"node {node}: {reason}", kind="silent_node")
        for node, reason in silent.items()
    ]
    found = [look for look in looks if look.snapshot.processes]
    if not found:
        if not failures:
            failures.append(
                UserError(f"{job}: on none of its {len(gathering.nodes)} nodes runs a rank of it", kind="gone")
            )
        return [], [], failures
    return found, _missing(found, silent), failures


def _check(job: str, request: Request) -> None:
    if request.action not in ("read", "stacks") or request.wanted:
        raise UserError(
            f"{job}: handles, layouts and recordings are not asked of many nodes",
            help="type on a node of the job: mpi-queues handles --pid PID KIND, or mpi-queues record --pid PID -o FILE",
            kind="not_over_nodes",
        )
    if request.source == "plugin" or request.via not in (AUTO, NATIVE):
        raise UserError(
            f"{job}: agents read with the built-in reader, without plug-ins and without debuggers",
            help="leave out --source and --via",
            kind="not_over_nodes",
        )


def _missing(looks: Sequence[Look], silent: Dict[str, str]) -> List[Snapshot]:
    """The ranks of MPI_COMM_WORLD that no node has told of, as processes with the reason."""
    processes = [process for look in looks for process in look.snapshot.processes]
    # With several worlds nobody knows whose rank is missing.
    if len({process.world_key for process in processes if process.world_key is not None}) > 1:
        return []
    size = max((process.world_size or 0 for process in processes), default=0)
    seen = {process.rank for process in processes}
    missing = [rank for rank in range(size) if rank not in seen]
    if not missing:
        return []
    names = list(silent)
    named = ", ".join(names[:_MAX_NAMED]) + (f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else "")
    if len(names) == 1:
        reason = f"not read: node {named}: {silent[names[0]]}"
    elif names:
        reason = f"not read: it is on one of the nodes {named}, which did not answer"
    else:
        reason = "not read: no node has a process of it"
    content: Dict[str, Any] = {
        "schema": "mpi-queues/1",
        "captured_at": None,
        "processes": [
            {"rank": rank, "world_size": size, "mpi": None, "source": None, "problems": [reason]} for rank in missing
        ],
    }
    return [Snapshot.from_json(json.dumps(content))]
