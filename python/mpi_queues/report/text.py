"""Snapshots as text of at most the columns of the terminal, for people.

Queues may hold 100,000 operations, each of which becomes a Python object only when it is shown.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Dict, List, Optional, Sequence

from .._native import Communicator, Process, Snapshot
from ..errors import UserError
from .operations import QUEUES, queues_of, shown_number, write_queue
from .options import DEFAULT_LIMIT, Options, Write
from .process_lines import call_lines, history_lines, kernel_line, mpi_line, outside_line, source_line
from .totals import Totals
from .words import at_most, clean, columns, counted, joined, listed, pad, shorten, wrapped
from .worlds import Members, of_world, rank_in, who

#: Also what it is called with.
__all__ = [
    "DEFAULT_LIMIT",
    "Options",
    "chosen",
    "count_operations",
    "process_head",
    "write_communicators",
    "write_differences",
    "write_end",
    "write_problems",
    "write_queues",
]


def chosen(snapshot: Snapshot, *, comm: Optional[str], rank: Optional[int]) -> Snapshot:
    """The communicators of that name and the process of that rank; with several worlds, of that place among them all.

    Raises:
        UserError: where there is none, with those that there are.
    """
    if comm is None and rank is None:
        return snapshot
    processes = snapshot.processes
    places = [rank_in(process, snapshot) for process in processes]
    if rank is not None and rank not in places:
        there = listed(str(place) for place in places if place is not None)
        raise UserError(f"no process of rank {rank} was read (read: rank {there or 'not known'})", kind="no_rank")
    if comm is not None:
        names = {
            communicator.name: None
            for process, place in zip(processes, places)
            if rank is None or place == rank
            for communicator in process.communicators
        }
        if comm not in names:
            raise UserError(
                f"no communicator is named {comm!r}: there are {listed(clean(name) for name in names) or 'none'}",
                kind="no_communicator",
            )
    return snapshot.filtered(comm=comm, rank=rank)


def count_operations(snapshot: Snapshot) -> int:
    """All operations of all queues."""
    return sum(
        len(queue)
        for process in snapshot.processes
        for communicator in process.communicators
        for _, queue in queues_of(communicator)
    )


def write_queues(snapshot: Snapshot, write: Write, options: Optional[Options] = None) -> None:
    """The queues of every process, the problems, and one line of totals last."""
    options = replace(options or Options(), worlds=snapshot.worlds)
    totals = Totals()
    for number, process in enumerate(snapshot.processes):
        if number:
            write("\n")
        _write_process(process, write, options, totals)
    write("\n")
    write_end(snapshot, write, options, totals)


def write_end(snapshot: Snapshot, write: Write, options: Options, totals: Optional[Totals] = None) -> None:
    """What was left out, the problems, and one line of totals last."""
    if totals is None:
        totals = Totals()
        for process in snapshot.processes:
            for communicator in process.communicators:
                totals.add(communicator)
    if options.hidden_internal:
        hint = f" (to see them: {options.show_internal})" if options.show_internal else ""
        write(
            wrapped(
                f"{counted(options.hidden_internal, 'operation')} of MPI itself not shown{hint}",
                "",
                width=options.width,
            )
            + "\n"
        )
    write_problems(snapshot, write, options)
    for note in snapshot.notes:
        write(wrapped(f"Note: {note}", "", "  ", width=options.width))
    incomplete = totals.unknown_line(_problems(snapshot))
    if incomplete:
        write(options.style("problem", incomplete) + "\n")
    write(totals.line(len(snapshot.processes), options.width) + "\n")


def write_communicators(snapshot: Snapshot, write: Write, options: Optional[Options] = None) -> None:
    """One line for each communicator of every process."""
    options = options or Options()
    total = 0
    for number, process in enumerate(snapshot.processes):
        if number:
            write("\n")
        write(process_head(process, options))
        communicators = process.communicators
        total += len(communicators)
        _write_members(communicators, snapshot, write, options)
    write("\n")
    write_problems(snapshot, write, options)
    write(f"{counted(len(snapshot.processes), 'process')}, {counted(total, 'communicator')}\n")


def _write_members(communicators: Sequence[Communicator], snapshot: Snapshot, write: Write, options: Options) -> None:
    """A table: the groups have what the other columns leave."""
    rows = [("name", "rank", "size", "id", "world ranks")]
    for found in communicators:
        numbers = shown_number(found.local_rank), shown_number(found.size), found.context_id or str(found.unique_id)
        rows.append((clean(_name(found)), *numbers, Members(found, snapshot.worlds).groups()))
    most = (min(40, options.width - 46), 8, 8, 12)
    name, rank, size, number = (min(limit, max(columns(row[at]) for row in rows)) for at, limit in enumerate(most))
    for row in rows:
        line = (
            f"  {pad(shorten(row[0], name), name)}  {row[1]:>{rank}}  {row[2]:>{size}}"
            f"  {pad(shorten(row[3], number), number)}  "
        )
        write(line + shorten(row[4], options.width - columns(line)) + "\n")


def write_differences(label: str, differences: Sequence[str], write: Write, options: Optional[Options] = None) -> None:
    """Where the built-in reader and the plug-in differ."""
    options = options or Options()
    if not differences:
        write(wrapped(f"{label}: the built-in reader and the plug-in agree", "", width=options.width))
        return
    write(
        wrapped(
            f"{label}: {counted(len(differences), 'difference')} between built-in reader and plug-in",
            "",
            width=options.width,
        )
    )
    for difference in differences:
        write(wrapped(difference, "  - ", "    ", width=options.width))


def _problems(snapshot: Snapshot) -> int:
    return len(snapshot.problems) + sum(len(process.problems) for process in snapshot.processes)


def _name(communicator: Communicator) -> str:
    return communicator.name or "(no name)"


def process_head(process: Process, options: Options) -> str:
    """Rank, pid, host and executable, as one line."""
    parts = []
    if process.rank is not None:
        parts.append(f"Rank {process.rank} of {shown_number(process.world_size)}{of_world(process)}")
    if process.pid is not None:
        parts.append(f"pid {process.pid}" + (f" on {process.host}" if process.host else ""))
    line = clean(", ".join(parts) or "Process")
    if process.executable:
        line += ", " + shorten(process.executable, max(20, options.width - columns(line) - 2), keep_end=True)
    return options.style("process", shorten(line, options.width)) + "\n"


def _write_process(process: Process, write: Write, options: Options, totals: Totals) -> None:
    write(process_head(process, options))
    for sentence in (mpi_line(process), source_line(process)):
        if sentence:
            write(wrapped(sentence, "  ", "    ", width=options.width))
    for line in call_lines(process):
        write(wrapped(line, "  ", "    ", width=options.width))
    for line in history_lines(process):
        write(wrapped(line, "  ", "    ", width=options.width))
    for place in process.outside:
        # Threads of the MPI library itself have no caller.
        if place.get("caller"):
            write(wrapped(outside_line(place), "  ", "    ", width=options.width))
    hint = kernel_line(process)
    if hint:
        write(wrapped(hint, "  ", "    ", width=options.width))
    communicators = process.communicators
    unknown = _unknown_everywhere(communicators)
    if unknown:
        write("\n")
    for title, detail in unknown.items():
        write(wrapped(f"{title}: not known in any communicator: {detail}", "  ", "    ", width=options.width))
    idle: List[str] = []
    for communicator in communicators:
        totals.add(communicator)
        quiet = all(
            len(queue) == 0 and (queue.state == "ok" or which.title in unknown)
            for which, queue in queues_of(communicator)
        )
        if quiet and not options.every_communicator:
            idle.append(shorten(_name(communicator), 64))
        else:
            _write_communicator(communicator, write, options, unknown)
    if idle:
        known = [which.title for which in QUEUES if which.title not in unknown]
        about = f"No {joined(known, 'or')} in: " if known else "Communicators: "
        write("\n" + wrapped(about + listed(idle), "  ", "    ", width=options.width))
    for note in process.notes:
        write(wrapped(f"Note: {note}", "  ", "    ", width=options.width))


def _unknown_everywhere(communicators: Sequence[Communicator]) -> Dict[str, str]:
    """The queues that are not known in any of several communicators for the same reason, which is said once."""
    found: Dict[str, str] = {}
    if len(communicators) < 2:
        return found
    for which in QUEUES:
        queues = [which.of(communicator) for communicator in communicators]
        details = {queue.detail for queue in queues}
        if all(queue.state == "no_information" and len(queue) == 0 for queue in queues) and len(details) == 1:
            found[which.title] = details.pop() or "no reason given"
    return found


def _write_communicator(communicator: Communicator, write: Write, options: Options, unknown: Dict[str, str]) -> None:
    title = f"rank {shown_number(communicator.local_rank)} of {shown_number(communicator.size)}"
    if communicator.remote_group is not None:
        title += f", remote group of {len(communicator.remote_group)}"
    name = shorten(_name(communicator), options.width - columns(title) - 4)
    write(f"\n  {options.style('communicator', name)}: {title}\n")
    members = Members(communicator, options.worlds)
    for which, queue in queues_of(communicator):
        if which.title in unknown:
            write(f"    {which.title}: not known\n")
        else:
            write_queue(which, queue, members, write, options)


def write_problems(snapshot: Snapshot, write: Write, options: Options) -> None:
    """What could not be read, a sentence each, as far as they are read."""
    of_processes = (f"Problem, {who(process)}: {told}" for process in snapshot.processes for told in process.problems)
    for line in at_most([*of_processes, *(f"Problem: {told}" for told in snapshot.problems)]):
        write(options.style("problem", wrapped(line, "", "  ", width=options.width)))
