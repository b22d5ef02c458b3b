"""Snapshots as text of at most 100 columns, for people.

Queues may hold 100,000 operations, each of which becomes a Python object only when it is shown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from .._native import Communicator, Operation, Process, Queue, Snapshot
from ..errors import UserError
from .call_words import communicator_names, given
from .words import WIDTH, clean, columns, counted, listed, pad, shorten, size, wrapped
from .worlds import Members, of_world, who

Write = Callable[[str], object]

#: Rows of a queue unless the user asks for more.
DEFAULT_LIMIT = 200


class Which(NamedTuple):
    """One of a communicator's three queues."""

    #: What it is called, and one of its operations.
    title: str
    one: str
    #: The word before the peer.
    direction: str
    #: Whether its operations are messages that have arrived.
    arrived: bool
    of: Callable[[Communicator], Queue]


QUEUES = (
    Which("pending sends", "pending send", "to", False, lambda communicator: communicator.pending_sends),
    Which("pending receives", "pending receive", "from", False, lambda communicator: communicator.pending_receives),
    Which("unexpected messages", "unexpected message", "from", True, lambda one: one.unexpected_messages),
)

# Columns of the table of operations, 94 with the indentation and gaps.
_PEER, _TAG, _SIZE, _DATA, _CALL, _STATUS = 17, 11, 10, 22, 13, 15


@dataclass
class Options:
    """How a snapshot is shown."""

    #: Rows of each queue; None for all.
    limit: Optional[int] = DEFAULT_LIMIT
    #: How many internal operations were left out, and what to type to see them.
    hidden_internal: int = 0
    show_internal: str = ""
    #: What to type to see more rows.
    show_more: str = ""
    #: Show communicators in which nothing is pending in full, too.
    every_communicator: bool = False
    #: Emphasis on a terminal: the kind (``process``, ``communicator``, ``problem``) and the text.
    style: Callable[[str, str], str] = lambda kind, text: text
    #: The worlds of the snapshot, where there are several; whoever shows a snapshot sets them.
    worlds: Sequence[Mapping[str, Any]] = ()


def chosen(snapshot: Snapshot, *, comm: Optional[str], rank: Optional[int]) -> Snapshot:
    """The communicators of that name and the process of that rank; with several worlds, of that place among them all.

    Raises:
        UserError: where there is none, with those that there are.
    """
    if comm is None and rank is None:
        return snapshot
    processes = snapshot.processes
    places = [process.universe_rank if snapshot.worlds else process.rank for process in processes]
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
        for _, queue in _queues(communicator)
    )


def write_queues(snapshot: Snapshot, write: Write, options: Optional[Options] = None) -> None:
    """The queues of every process, the problems, and one line of totals last."""
    options = replace(options or Options(), worlds=snapshot.worlds)
    totals = _Totals()
    for number, process in enumerate(snapshot.processes):
        if number:
            write("\n")
        _write_process(process, write, options, totals)
    write("\n")
    write_end(snapshot, write, options, totals)


def write_end(snapshot: Snapshot, write: Write, options: Options, totals: Optional[_Totals] = None) -> None:
    """What was left out, the problems, and one line of totals last."""
    if totals is None:
        totals = _Totals()
        for process in snapshot.processes:
            for communicator in process.communicators:
                totals.add(communicator)
    if options.hidden_internal:
        hint = f" (to see them: {options.show_internal})" if options.show_internal else ""
        write(wrapped(f"{counted(options.hidden_internal, 'operation')} of MPI itself not shown{hint}", "") + "\n")
    write_problems(snapshot, write, options)
    for note in snapshot.notes:
        write(wrapped(f"Note: {note}", "", "  "))
    incomplete = totals.unknown_line(_problems(snapshot))
    if incomplete:
        write(options.style("problem", incomplete) + "\n")
    write(totals.line(len(snapshot.processes)) + "\n")


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
        width = min(40, max([4, *(columns(clean(found.name)) for found in communicators)]))
        write(f"  {pad('name', width)}  {'rank':>6}  {'size':>6}  {'id':<12}  world ranks\n")
        for found in communicators:
            line = (
                f"  {pad(shorten(_name(found), width), width)}  {shown_number(found.local_rank):>6}"
                f"  {shown_number(found.size):>6}  {shorten(found.context_id or str(found.unique_id), 12):<12}  "
            )
            write(line + shorten(Members(found, snapshot.worlds).groups(), WIDTH - columns(line)) + "\n")
    write("\n")
    write_problems(snapshot, write, options)
    write(f"{counted(len(snapshot.processes), 'process')}, {counted(total, 'communicator')}\n")


def write_differences(label: str, differences: Sequence[str], write: Write) -> None:
    """Where the built-in reader and the plug-in differ."""
    if not differences:
        write(wrapped(f"{label}: the built-in reader and the plug-in agree", ""))
        return
    write(wrapped(f"{label}: {counted(len(differences), 'difference')} between built-in reader and plug-in", ""))
    for difference in differences:
        write(wrapped(difference, "  - ", "    "))


class _Totals:
    """What the last line says."""

    def __init__(self) -> None:
        self.communicators = 0
        self.operations = [0, 0, 0]
        self.unknown = [0, 0, 0]

    def add(self, communicator: Communicator) -> None:
        self.communicators += 1
        for kind, (_, queue) in enumerate(_queues(communicator)):
            self.operations[kind] += len(queue)
            self.unknown[kind] += queue.state != "ok"

    def _count(self, kind: int, one: str) -> str:
        # Nothing seen in queues that cannot be read is no empty queue.
        if self.unknown[kind] and not self.operations[kind]:
            return f"{one}s not known"
        return f"{'at least ' if self.unknown[kind] else ''}{counted(self.operations[kind], one)}"

    def line(self, processes: int) -> str:
        """What fits one line, whatever the numbers."""
        counts = (
            f"{counted(processes, 'process')}, {counted(self.communicators, 'communicator')}: "
            f"{self._count(0, 'pending send')}, {self._count(1, 'pending receive')}, "
            f"{self._count(2, 'unexpected message')}"
        )
        for long, short in (("pending ", ""), (" messages", ""), ("communicators", "comms")):
            if columns(counts) <= WIDTH:
                break
            counts = counts.replace(long, short)
        return shorten(counts, WIDTH)

    def unknown_line(self, problems: int) -> str:
        """What the numbers leave out; empty where they are complete."""
        parts = []
        if any(self.unknown):
            parts.append(f"{counted(sum(self.unknown), 'queue')} not known")
        if problems:
            parts.append(counted(problems, "problem"))
        return f"Not all is known: {', '.join(parts)}" if parts else ""


def _problems(snapshot: Snapshot) -> int:
    return len(snapshot.problems) + sum(len(process.problems) for process in snapshot.processes)


def _queues(communicator: Communicator) -> List[Tuple[Which, Queue]]:
    return [(which, which.of(communicator)) for which in QUEUES]


def shown_number(value: Optional[int]) -> str:
    """A number, or a question mark."""
    return "?" if value is None else str(value)


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
        line += ", " + shorten(process.executable, max(20, WIDTH - columns(line) - 2), keep_end=True)
    return options.style("process", shorten(line, WIDTH)) + "\n"


def _write_process(process: Process, write: Write, options: Options, totals: _Totals) -> None:
    write(process_head(process, options))
    for sentence in (mpi_line(process), _source_line(process)):
        if sentence:
            write(wrapped(sentence, "  ", "    "))
    for line in call_lines(process):
        write(wrapped(line, "  ", "    "))
    for place in process.outside:
        # Threads of the MPI library itself have no caller.
        if place.get("caller"):
            write(wrapped(outside_line(place), "  ", "    "))
    communicators = process.communicators
    unknown = _unknown_everywhere(communicators)
    if unknown:
        write("\n")
    for title, detail in unknown.items():
        write(wrapped(f"{title}: not known in any communicator: {detail}", "  ", "    "))
    idle: List[str] = []
    for communicator in communicators:
        totals.add(communicator)
        quiet = all(
            len(queue) == 0 and (queue.state == "ok" or which.title in unknown)
            for which, queue in _queues(communicator)
        )
        if quiet and not options.every_communicator:
            idle.append(shorten(_name(communicator), 64))
        else:
            _write_communicator(communicator, write, options, unknown)
    if idle:
        known = [which.title for which in QUEUES if which.title not in unknown]
        about = f"No {_either(known)} in: " if known else "Communicators: "
        write("\n" + wrapped(about + listed(idle), "  ", "    "))
    for note in process.notes:
        write(wrapped(f"Note: {note}", "  ", "    "))


def mpi_line(process: Process) -> str:
    """The MPI library in a few words; empty where there is none."""
    mpi = process.mpi
    if not mpi:
        return ""
    line = str(mpi.get("implementation") or "MPI")
    if mpi.get("version"):
        line += f" {mpi['version']}"
    if mpi.get("transport"):
        line += f", transport {mpi['transport']}"
    return line


def _source_line(process: Process) -> str:
    source = process.source
    if not source:
        return ""
    if source.get("kind") == "plugin":
        line = f"read by the plug-in {source.get('plugin') or ''}".rstrip()
    else:
        line = "read by the built-in reader"
    if source.get("layouts"):
        line += f", layouts {source['layouts']}"
    return f"{line}, via {source['via']}" if source.get("via") else line


def call_lines(process: Process) -> Iterator[str]:
    """Where each of its threads stands in MPI."""
    # Made anew each time that they are asked for: with thousands of threads not once a thread.
    calls = process.calls
    names = communicator_names(process)
    for call in calls:
        arguments = given(names, call)
        line = f"in {call.get('function')}" + (f"({arguments})" if arguments else "")
        if len(calls) > 1 or call.get("thread") not in (1, None):
            line = f"thread {call.get('thread')} {line}"
        yield line + _called_by(call)


def outside_line(place: Mapping[str, Any]) -> str:
    """Where a thread stands that is not in MPI."""
    number = place.get("thread")
    # What was not seen to its end may be in MPI all the same.
    lost = place.get("complete") is False
    line = f"thread {number} was not seen to the end of its stack" if lost else f"thread {number} is outside MPI"
    if place.get("function") and place["function"] != place.get("caller"):
        return f"{line}: in {place['function']}{_called_by(place)}"
    where = f" at {_place(place)}" if place.get("file") else ""
    return f"{line}: in {place['caller']}{where}" if place.get("caller") else line


def _called_by(call: Mapping[str, Any]) -> str:
    caller = f", called by {call['caller']}" if call.get("caller") else ""
    return caller + (f" at {_place(call)}" if call.get("file") else "")


def _place(call: Mapping[str, Any]) -> str:
    return f"{str(call['file']).rsplit('/', 1)[-1]}:{call.get('line')}"


def _either(titles: Sequence[str]) -> str:
    """``a``, ``a or b``, ``a, b or c``."""
    return " or ".join([", ".join(titles[:-1]), titles[-1]] if len(titles) > 1 else titles)


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
    name = shorten(_name(communicator), WIDTH - columns(title) - 4)
    write(f"\n  {options.style('communicator', name)}: {title}\n")
    members = Members(communicator, options.worlds)
    for which, queue in _queues(communicator):
        if which.title in unknown:
            write(f"    {which.title}: not known\n")
        else:
            _write_queue(which, queue, members, write, options)


def _write_queue(which: Which, queue: Queue, members: Members, write: Write, options: Options) -> None:
    title = which.title
    total = len(queue)
    if queue.state == "no_information":
        write(wrapped(f"{title}: not known: {queue.detail or 'no reason given'}", "    ", "      "))
    elif queue.state != "ok":
        detail = queue.detail or "no reason given"
        write(options.style("problem", wrapped(f"{title}: could not be read: {detail}", "    ", "      ")))
    elif total == 0:
        write(f"    {title}: none\n")
    if total == 0:
        return
    incomplete = "" if queue.state == "ok" else " (not all)"
    write(f"    {title}: {total:,}{incomplete}\n")
    write(_row(which.direction, "tag", "size", "data", "call", "status"))
    shown = total if options.limit is None else min(total, max(0, options.limit))
    remarks: Dict[str, None] = {}
    for index in range(shown):
        operation = queue[index]
        _write_operation(operation, which, members, write)
        remarks.update(dict.fromkeys(_remarks(operation)))
    for remark in remarks:
        write(wrapped(remark, "      ", "        "))
    if shown < total:
        hint = f" (to see them: {options.show_more})" if options.show_more else ""
        write(f"      … and {total - shown:,} more{hint}\n")


def _row(peer: str, tag: str, length: str, data: str, call: str, status: str) -> str:
    line = (
        f"      {pad(shorten(peer, _PEER), _PEER)} {pad(shorten(tag, _TAG), _TAG)} {length:>{_SIZE}}  "
        f"{pad(shorten(data, _DATA), _DATA)} {pad(shorten(call, _CALL), _CALL)} {status}"
    )
    return line.rstrip() + "\n"


def _write_operation(operation: Operation, which: Which, members: Members, write: Write) -> None:
    tag = "any" if operation.tag_wild else shown_number(operation.desired_tag)
    data = ""
    if operation.datatype or operation.count is not None:
        data = f"{'' if operation.count is None else operation.count} {operation.datatype or 'elements'}".strip()
    length = operation.actual_length if which.arrived else operation.desired_length
    marks = [operation.status]
    if operation.persistent:
        marks.append("persistent")
    if operation.internal:
        marks.append("internal")
    if operation.system_buffer and not which.arrived:
        marks.append("buffered")
    notes = [clean(note) for note in operation.extra_text]
    status = ", ".join(marks)
    overflow = ""
    if columns(status) > _STATUS:
        # Marks that do not fit go below, with what the source has to say.
        status, overflow = operation.status, ", ".join(marks[1:])
    other = members.name(operation.desired_local_rank, operation.desired_global_rank)
    write(_row(peer(operation, other), tag, size(length), data, operation.call or "", status))
    taken = _taken_from(operation, members) if not which.arrived else ""
    below = "; ".join(note for note in [other, overflow, taken, *notes] if note)
    if below:
        write(wrapped(below, "        "))


#: What the columns of facts are called that an MPI may not tell; the others have no column.
_FACTS = {"desired_local_rank": "peer", "desired_tag": "tag", "desired_length": "size", "datatype": "datatype"}


def _remarks(operation: Operation) -> Iterator[str]:
    """What is said once below a queue: why facts are not known, and how the others were found."""
    for fact, reason in operation.unknown.items():
        if fact in _FACTS:
            yield f"{_FACTS[fact]} not known: {clean(reason)}"
    if operation.evidence:
        yield f"found by: {clean(operation.evidence)}"


def peer(operation: Operation, other: str) -> str:
    """The peer; ``other`` says below who it is where it is not of the first world."""
    if operation.any_source:
        return "any"
    local = operation.desired_local_rank
    world = operation.desired_global_rank
    if other:
        return shown_number(local)
    if local is None:
        return "?" if world is None else f"? (world {world})"
    return str(local) if world is None or world == local else f"{local} (world {world})"


def _taken_from(operation: Operation, members: Members) -> str:
    """What a receive with wildcards got."""
    if operation.status == "pending" or not (operation.any_source or operation.tag_wild):
        return ""
    parts = []
    if operation.any_source and operation.actual_local_rank is not None:
        world = operation.actual_global_rank
        other = members.name(operation.actual_local_rank, world)
        also = f" (world {world})" if world is not None and world != operation.actual_local_rank else ""
        also = f" ({other})" if other else also
        parts.append(f"from {operation.actual_local_rank}{also}")
    if operation.tag_wild and operation.actual_tag is not None:
        parts.append(f"tag {operation.actual_tag}")
    if operation.actual_length is not None:
        parts.append(size(operation.actual_length))
    return "got: " + ", ".join(parts) if parts else ""


def write_problems(snapshot: Snapshot, write: Write, options: Options) -> None:
    """What could not be read, a sentence each."""
    for process in snapshot.processes:
        for problem in process.problems:
            write(options.style("problem", wrapped(f"Problem, {who(process)}: {problem}", "", "  ")))
    for problem in snapshot.problems:
        write(options.style("problem", wrapped(f"Problem: {problem}", "", "  ")))
