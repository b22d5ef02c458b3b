"""The operations of a queue, as a table."""

from __future__ import annotations

from itertools import chain, islice
from typing import Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from .._native import Communicator, Operation, Queue
from .options import Options, Write
from .started import by_words
from .words import clean, columns, pad, shorten, size, wrapped
from .worlds import Members


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


#: What a row of the table of operations tells, in its columns.
_Cells = Tuple[str, str, str, str, str, str]

#: How wide these columns get: of what is longer the end is cut.
_WIDEST = (17, 11, 10, 22, 13, 15)

#: Which of them give way first on a narrow terminal, and how narrow they get.
_NARROWEST = ((3, 10), (0, 9), (5, 9), (4, 9))

#: So many rows say how wide the columns are.
_MEASURED = 200


def queues_of(communicator: Communicator) -> List[Tuple[Which, Queue]]:
    """A communicator's three queues."""
    return [(which, which.of(communicator)) for which in QUEUES]


def shown_number(value: Optional[int]) -> str:
    """A number, or a question mark."""
    return "?" if value is None else str(value)


def write_queue(which: Which, queue: Queue, members: Members, write: Write, options: Options) -> None:
    """One of them: its operations, or why they are not known."""
    title = which.title
    total = len(queue)
    if queue.state == "no_information":
        write(
            wrapped(f"{title}: not known: {queue.detail or 'no reason given'}", "    ", "      ", width=options.width)
        )
    elif queue.state != "ok":
        detail = queue.detail or "no reason given"
        write(
            options.style(
                "problem", wrapped(f"{title}: could not be read: {detail}", "    ", "      ", width=options.width)
            )
        )
    elif total == 0:
        write(f"    {title}: none\n")
    if total == 0:
        return
    incomplete = "" if queue.state == "ok" else " (not all)"
    write(f"    {title}: {total:,}{incomplete}\n")
    shown = total if options.limit is None else min(total, max(0, options.limit))
    head = (which.direction, "tag", "size", "data", "call", "status")
    rows = (_told(queue[index], which, members) for index in range(shown))
    measured = list(islice(rows, _MEASURED))
    widths = _widths([head, *(cells for cells, _, _ in measured)], options.width)
    write(_row(head, widths))
    remarks: Dict[str, None] = {}
    for cells, below, once in chain(measured, rows):
        write(_row(cells, widths))
        if below:
            write(wrapped(below, "        ", width=options.width))
        remarks.update(dict.fromkeys(once))
    for remark in remarks:
        write(wrapped(remark, "      ", "        ", width=options.width))
    if shown < total:
        hint = f" (to see them: {options.show_more})" if options.show_more else ""
        write(f"      … and {total - shown:,} more{hint}\n")


def _widths(rows: Sequence[_Cells], width: int) -> List[int]:
    """How wide the columns of a table are on a terminal of so many columns."""
    found = [min(most, max(columns(clean(row[at])) for row in rows)) for at, most in enumerate(_WIDEST)]
    # The indentation, and what stands between the columns.
    over = 6 + 6 + sum(found) - width
    for at, least in _NARROWEST:
        less = min(max(0, found[at] - least), max(0, over))
        found[at] -= less
        over -= less
    return found


def _row(cells: _Cells, widths: Sequence[int]) -> str:
    peer, tag, length, data, call, status = (
        pad(shorten(cell, width), width) if at != 2 else cell for at, (cell, width) in enumerate(zip(cells, widths))
    )
    return f"      {peer} {tag} {length:>{widths[2]}}  {data} {call} {status}".rstrip() + "\n"


def _told(operation: Operation, which: Which, members: Members) -> Tuple[_Cells, str, List[str]]:
    """What stands in the row of an operation, what below it, and what once below the queue."""
    tag = "any" if operation.tag_wild else shown_number(operation.desired_tag)
    data = ""
    if operation.datatype or operation.count is not None:
        data = f"{'' if operation.count is None else operation.count} {operation.datatype or 'elements'}".strip()
    length = operation.actual_length if which.arrived else operation.desired_length
    marks = [status_words(operation)]
    if operation.persistent:
        marks.append("persistent")
    if operation.internal:
        marks.append("internal")
    if operation.system_buffer and not which.arrived:
        marks.append("buffered")
    notes = [clean(note) for note in operation.extra_text]
    status = ", ".join(marks)
    overflow = ""
    if columns(status) > _WIDEST[5]:
        # Marks that do not fit go below, with what the source has to say.
        status, overflow = marks[0], ", ".join(marks[1:])
    other = members.name(operation.desired_local_rank, operation.desired_global_rank)
    taken = _taken_from(operation, members) if not which.arrived else ""
    started = by_words(operation.started_by)
    below = "; ".join(note for note in [other, overflow, taken, started, *notes] if note)
    cells = (peer(operation, other), tag, size(length), data, operation.call or "", status)
    return cells, below, list(_remarks(operation))


#: What the columns of facts are called that an MPI may not tell; the others have no column.
_FACTS = {"desired_local_rank": "peer", "desired_tag": "tag", "desired_length": "size", "datatype": "datatype"}


def _remarks(operation: Operation) -> Iterator[str]:
    """What is said once below a queue: why facts are not known, and how the others were found."""
    for fact, reason in operation.unknown.items():
        if fact in _FACTS:
            yield f"{_FACTS[fact]} not known: {clean(reason)}"
    if operation.evidence:
        yield f"found by: {clean(operation.evidence)}"


def status_words(operation: Operation) -> str:
    """How far it is, for people."""
    return operation.status.replace("_", " ")


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
