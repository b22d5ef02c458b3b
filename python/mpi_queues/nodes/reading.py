"""The ranks of a job of many nodes, as snapshots."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from typing import Dict, FrozenSet, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from .._native import Snapshot
from ..errors import UserError
from ..launchers.selection import node_set
from ..request import Request
from ..system import agent
from ..system.paths import shown
from .agents import Look
from .engines import Engine, engine_of
from .gathering import LIST, READ, STACKS, Action, Gathering, Progress, record_in
from .missing import unread

#: A process by its host and its number.
Place = Tuple[str, int]


@dataclass
class _Open:
    """A job whose agents are asked: they are kept for a second look."""

    gathering: Gathering
    #: What is known of each node now, by its name: of ranks that were not asked again what was read before.
    known: Dict[str, Look] = field(default_factory=dict)
    #: The answers to the last question alone.
    last: List[Look] = field(default_factory=list)
    #: Why nothing came of other nodes then, by their names.
    silent: Dict[str, str] = field(default_factory=dict)
    #: Of which ranks a second look is asked, where not of all.
    ranks: Optional[FrozenSet[int]] = None


#: So many processes of other users are named where there is nothing else.
_NAMED = 3

#: By the job as it was named.
_OPEN: Dict[str, _Open] = {}


def _open(job: str, engine: Optional[Engine] = None) -> _Open:
    """The agents of a job, started where they were not yet: by an engine, or by that of the job.

    Raises:
        UsageError: where nothing is named so.
        UserError: where there is no such job, or no engine to reach its nodes.
    """
    if job not in _OPEN:
        _OPEN[job] = _Open(Gathering(engine or engine_of(job), str(agent.path()), agent.path()))
    return _OPEN[job]


def close_all() -> None:
    """Ends all agents."""
    while _OPEN:
        _OPEN.popitem()[1].gathering.close()


def begin(job: str, request: Request, between: float, ranks: Optional[Iterable[int]] = None) -> None:
    """Lets the ranks of a job run on for so many seconds, and has them read again then; ``read`` gives that.

    ``ranks``: only these are read again.
    """
    opened = _open(job)
    opened.ranks = None if ranks is None else frozenset(ranks)
    opened.gathering.ask(
        timeout=request.timeout,
        between=between,
        action=_action(request),
        ranks=None if opened.ranks is None else node_set(opened.ranks),
        wrappers=request.wrappers,
    )


def _action(request: Request) -> Action:
    if request.action == "handles":
        return {"handles": {"wanted": request.wanted}}
    return STACKS if request.action == "stacks" else READ


def _last(jobs: Iterable[str]) -> List[Look]:
    return [look for job in jobs if job in _OPEN for look in _OPEN[job].last]


def looked_at(jobs: Iterable[str]) -> List[Tuple[str, List[int]]]:
    """The live processes of jobs that were read last, by host."""
    return [on_host for look in _last(jobs) for on_host in look.snapshot.by_host()]


class Between(NamedTuple):
    """What agents saw while ranks ran on, before they read them last."""

    #: Those whose messages were seen to go.
    moving: List[Place]
    #: Those whose messages may have gone where nobody saw them.
    unseen: List[Place]
    #: Those that wanted a processor and had none.
    hungry: List[Place]


def between(jobs: Iterable[str]) -> Between:
    """What was seen of jobs before they were read last."""
    found = Between([], [], [])
    for look in _last(jobs):
        told = [(places, look.pids(name)) for name, places in zip(Between._fields, found)]
        for place in _places(look) if any(pids for _, pids in told) else []:
            for places, pids in told:
                places += [place] if place[1] in pids else []
    return found


def silent(job: str) -> Dict[str, str]:
    """Why nothing came of nodes when it was read last, by their names."""
    return _OPEN[job].silent if job in _OPEN else {}


def _places(look: Look) -> List[Place]:
    return [(host, pid) for host, pids in look.snapshot.by_host() for pid in pids]


def read(
    job: str, request: Request, progress: Progress, engine: Optional[Engine] = None
) -> Tuple[List[Look], List[Snapshot], List[UserError]]:
    """What the agents of a job say; the ranks that are missing, as processes with the reason; and why nothing was read.

    Raises:
        UserError: where the job or its nodes are not to be reached, or this cannot be asked of agents.
    """
    check(job, request)
    opened = _open(job, engine)
    if not opened.gathering.is_asked:
        opened.ranks = None
        opened.gathering.ask(timeout=request.timeout, action=_action(request), wrappers=request.wrappers)
    opened.last, silent = opened.gathering.gather(progress)
    opened.silent = silent
    before = opened.known
    opened.known = {look.node: _with_the_rest(look, before.get(look.node), opened.ranks) for look in opened.last}
    failures = [_silent(job, node, reason) for node, reason in silent.items()]
    # What a node told once is not lost where it does not answer again.
    for node in silent:
        if node in before:
            opened.known[node] = before[node]
    found = [opened.known[node] for node in opened.gathering.nodes if node in opened.known]
    found = [look for look in found if any(part.extent()[0] for part in look.parts)]
    if not found:
        if not failures:
            failures.append(no_ranks(job, len(opened.gathering.nodes), opened.last))
        return [], [], failures
    gone = {node: reason for node, reason in silent.items() if node not in opened.known}
    engine = opened.gathering.engine
    all_seen = engine.knows_all_nodes and all(look.told.get("denied") == 0 for look in opened.last)
    told = [part for look in found for part in look.parts]
    return found, [unread(told, gone, all_seen=all_seen)], failures


def _with_the_rest(look: Look, before: Optional[Look], asked: Optional[FrozenSet[int]]) -> Look:
    """A second look, with what earlier ones told of those that were not asked again."""
    if asked is None or before is None:
        return look
    rest = [part.rest(asked, look.snapshot) for part in before.parts]
    kept = [part for part in rest if part is not None]
    if not kept:
        return look
    return replace(look, kept=kept[0] if len(kept) == 1 else Snapshot.merged(kept))


#: What shows the state of a node, by how jobs are named.
_STATES = {"slurm:": "sinfo -N -l -n", "pbs:": "pbsnodes", "lsf:": "bhosts -l"}


def _silent(job: str, node: str, reason: str) -> UserError:
    listing = next((words for prefix, words in _STATES.items() if job.startswith(prefix)), "")
    help_text = f"to see its state, type: {listing} {node}" if listing else ""
    return UserError(f"node {node}: {reason}", help=help_text, kind="silent_node")


def no_ranks(job: str, nodes: int, looks: Sequence[Look]) -> UserError:
    """That there is nothing to look at: nothing but processes of other users, where there are such."""
    others = [note for look in looks for note in look.snapshot.notes]
    hint = "to see the ranks of another user there, type: --job hosts:USER@NODESET" if job.startswith("hosts:") else ""
    said = "".join(f"; {shown(note)}" for note in others[:_NAMED])
    return UserError(
        f"{job}: none of its {nodes} nodes runs a rank of the job{said}", help=hint if others else "", kind="gone"
    )


def listed(
    job: str, timeout: float, progress: Progress, engine: Optional[Engine] = None
) -> Tuple[List[Snapshot], Dict[str, str]]:
    """The ranks of a job, which are left alone, and why there is nothing of some nodes.

    Raises:
        UserError: where the job or its nodes are not to be reached.
    """
    gathering = _open(job, engine).gathering
    gathering.ask(timeout=timeout, action=LIST)
    looks, silent = gathering.gather(progress)
    return [look.snapshot for look in looks], silent


@dataclass(frozen=True)
class NodeRecording:
    """What one node has recorded of its ranks."""

    node: str
    #: On that node.
    path: str
    #: In bytes.
    size: int
    processes: int


def record(
    job: str, directory: str, timeout: float, progress: Progress, engine: Optional[Engine] = None
) -> Tuple[List[NodeRecording], List[str], List[UserError]]:
    """Has each node write its ranks to a file in a directory there.

    Returns:
        the files; what is wrong with single ranks, in sentences; and which nodes have written nothing.

    Raises:
        UserError: where the job or its nodes are not to be reached.
    """
    gathering = _open(job, engine).gathering
    gathering.ask(timeout=timeout, action=record_in(directory))
    looks, silent = gathering.gather(progress)
    failures = [_silent(job, node, reason) for node, reason in silent.items()]
    files: List[NodeRecording] = []
    problems: List[str] = []
    for look in looks:
        told = look.told.get("file")
        file = told if isinstance(told, dict) else {}
        path, size, count = file.get("path"), file.get("bytes"), file.get("processes")
        problems += [
            f"rank {one.rank} on {look.node}: {text}" for one in look.snapshot.processes for text in one.problems
        ]
        problems += [f"{look.node}: {text}" for text in look.snapshot.problems]
        if isinstance(path, str) and isinstance(size, int) and isinstance(count, int):
            if _is_in(path, directory):
                files.append(NodeRecording(look.node, path, size, count))
            else:
                failures.append(_elsewhere(look.node, path, directory))
        elif look.snapshot.processes:
            failures.append(
                UserError(
                    f"node {look.node}: {shown(str(file.get('problem', 'nothing was recorded'))[:300])}",
                    kind="not_written",
                )
            )
    if not files and not failures:
        failures.append(no_ranks(job, len(gathering.nodes), looks))
    return files, problems, failures


#: What an agent calls its file (crates/agent/src/node/look.rs, ``record``): it becomes a word of a command.
_RECORDING = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,250}\.mpirec", re.ASCII)


def _is_in(path: str, directory: str) -> bool:
    """Whether a node tells of a recording where it was asked for."""
    place, name = os.path.split(path)
    return place == directory and _RECORDING.fullmatch(name) is not None


def _elsewhere(node: str, path: str, directory: str) -> UserError:
    return UserError(
        f"node {node}: it says that its recording is {shown(path[:300])}, which is not a recording in "
        f"{shown(directory)}",
        help=f"check that directory on {node} before you fetch anything from it",
        kind="not_written",
    )


def fetching(job: str, file: NodeRecording) -> str:
    """What to type to fetch a file from its node."""
    return _open(job).gathering.engine.fetching(file.node, file.path)


def not_asked(job: str) -> UserError:
    """That layouts and plug-ins are compared on one machine only."""
    return UserError(
        f"{job}: agents do not compare layouts or plug-ins",
        help="type the same command on a node of the job, with --pid PID",
        kind="not_over_nodes",
    )


def check(job: str, request: Request) -> None:
    """Raises UserError where something is asked for that agents cannot do."""
    if not request.gives_snapshots:
        raise not_asked(job)
    if request.wanted and request.action != "handles":
        raise UserError(
            f"{job}: agents read queues or handles, not both at once",
            help="for the handles, type: mpi-queues handles --job JOB",
            kind="not_over_nodes",
        )
    if request.source not in ("auto", "builtin") or request.layouts is not None:
        raise UserError(
            f"{job}: agents have the built-in reader and its own layouts, and no debugger",
            help="leave out --source and --layouts",
            kind="not_over_nodes",
        )
