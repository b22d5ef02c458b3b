"""Snapshots of many processes as text in which what is equal is said once: by communicator, or only what differs."""

from __future__ import annotations

from typing import Dict, Iterator, List, Sequence, Tuple

from .._native import Communicator, Operation, Process, Snapshot
from . import operations, process_lines, text
from .operations import QUEUES, Which
from .options import Options, Write
from .words import clean, counted, listed, ranks_named, size, wrapped
from .worlds import Members, of_world, who

#: Title, the word before the peer, and the queue.
#: What a communicator is known by in several processes: its name, its context, and its groups.
_Key = Tuple[str, str, str]


def write_by_communicator(snapshot: Snapshot, write: Write, options: Options) -> None:
    """Each communicator once, with what its members wait for; members for which that is equal are named together."""
    members: Dict[_Key, List[Process]] = {}
    lines: Dict[_Key, Dict[str, List[Process]]] = {}
    for process in snapshot.processes:
        for communicator in process.communicators:
            key = _key(communicator, snapshot)
            members.setdefault(key, []).append(process)
            for line in _lines(communicator, snapshot, options):
                lines.setdefault(key, {}).setdefault(line, []).append(process)
    for key in lines:
        name, _, group = key
        head = f"{name}: world ranks {group}" if group else name
        write(
            options.style(
                "communicator", wrapped(f"{head}, seen in {named(members[key])}", "", "  ", width=options.width)
            )
        )
        for line, of in lines[key].items():
            write(wrapped(f"{named(of)}: {line}", "  ", "    ", width=options.width))
        write("\n")
    idle: Dict[str, int] = {}
    for key in members:
        if key not in lines:
            idle[key[0]] = idle.get(key[0], 0) + 1
    if idle:
        names = listed(name if count == 1 else f"{name} ({count} of that name)" for name, count in idle.items())
        write(wrapped(f"Nothing is pending or unexpected in: {names}", "", "  ", width=options.width) + "\n")
    text.write_end(snapshot, write, options)


def write_by_difference(snapshot: Snapshot, write: Write, options: Options) -> None:
    """First what all processes have in common, then each group of processes that are equal in all else."""
    facts = [list(dict.fromkeys(_facts(process, snapshot, options))) for process in snapshot.processes]
    known = [found for process, found in zip(snapshot.processes, facts) if process.mpi]
    common = set(known[0]).intersection(*known[1:]) if len(known) > 1 else set()
    groups: Dict[Tuple[str, ...], List[Process]] = {}
    for process, found in zip(snapshot.processes, facts):
        groups.setdefault(tuple(one for one in found if one not in common), []).append(process)
    if common:
        alike = [process for process in snapshot.processes if process.mpi]
        what = f"all {counted(len(alike), 'process')}" if len(groups) > 1 else named(alike)
        write(options.style("process", f"Equal in {what}:") + "\n")
        for fact in (fact for fact in known[0] if fact in common):
            write(wrapped(fact, "  ", "    ", width=options.width))
        write("\n")
    for different, of in groups.items():
        if not different and len(groups) == 1:
            continue
        write(
            options.style(
                "process", wrapped(f"{named(of)} ({counted(len(of), 'process')}):", "", "  ", width=options.width)
            )
        )
        for fact in different or ("nothing else",):
            write(wrapped(fact, "  ", "    ", width=options.width))
        write("\n")
    text.write_end(snapshot, write, options)


def named(processes: Sequence[Process]) -> str:
    """Processes for people: ``rank 3``, ``ranks 0-3 and 7``, ``ranks 0-3 and ranks 0 and 1 of world 1``."""
    if len(processes) == 1:
        return who(processes[0])
    worlds: Dict[str, List[int]] = {}
    others: List[str] = []
    for process in processes:
        if process.rank is None:
            others.append(who(process))
        else:
            worlds.setdefault(of_world(process), []).append(process.rank)
    parts = [f"{ranks_named(of)}{world}" for world, of in worlds.items()]
    return " and ".join([*parts, *([listed(others, 5)] if others else [])])


def _key(communicator: Communicator, snapshot: Snapshot) -> _Key:
    name = clean(communicator.name) or "(no name)"
    context = communicator.context_id or str(communicator.unique_id)
    group = Members(communicator, snapshot.worlds).groups() if communicator.group is not None else ""
    # Both sides of an intercommunicator mean the same one.
    return name, context, " | ".join(sorted(part.strip() for part in group.replace("remote ", "").split("|")))


def _facts(process: Process, snapshot: Snapshot, options: Options) -> Iterator[str]:
    mpi = process_lines.mpi_line(process)
    if mpi:
        yield mpi
    yield from process_lines.call_lines(process)
    hint = process_lines.kernel_line(process)
    if hint:
        yield hint
    for communicator in process.communicators:
        name = clean(communicator.name) or "(no name)"
        for line in _lines(communicator, snapshot, options):
            yield f"{name}: {line}"
    yield from (f"Note: {clean(note)}" for note in process.notes)
    if process.problems:
        yield "could not be read: see the problems below" if not process.mpi else "has problems: see below"


def _lines(communicator: Communicator, snapshot: Snapshot, options: Options) -> Iterator[str]:
    """What is in the queues of one process, equal operations counted."""
    members = Members(communicator, snapshot.worlds)
    for which in QUEUES:
        queue = which.of(communicator)
        if queue.state != "ok":
            reason = "not known" if queue.state == "no_information" else "could not be read"
            yield f"{which.title}: {reason}: {clean(queue.detail or 'no reason given')}"
        shown = len(queue) if options.limit is None else min(len(queue), max(0, options.limit))
        counts: Dict[str, int] = {}
        for index in range(shown):
            line = _operation(queue[index], which, members)
            counts[line] = counts.get(line, 0) + 1
        for line, count in counts.items():
            yield line if count == 1 else f"{line} ({count:,} times)"
        if shown < len(queue):
            hint = f" (to see them: {options.show_more})" if options.show_more else ""
            yield f"and {counted(len(queue) - shown, f'more {which.one}')}{hint}"


def _operation(operation: Operation, which: Which, members: Members) -> str:
    other = members.name(operation.desired_local_rank, operation.desired_global_rank)
    peer = operations.peer(operation, other) + (f" ({other})" if other else "")
    tag = "any tag" if operation.tag_wild else f"tag {operations.shown_number(operation.desired_tag)}"
    length = operation.actual_length if which.arrived else operation.desired_length
    parts = [f"{which.one} {which.direction} {peer}", tag, size(length)]
    if operation.call:
        parts.append(clean(operation.call))
    if operation.status != "pending":
        parts.append(operations.status_words(operation))
    return ", ".join(parts)
