"""In words: what each rank of a snapshot waits for, and what lies there that does not match.

This tells what was read, rank by rank; it does not search for the cause.
"""

from __future__ import annotations

from typing import Callable, Iterator, List, Optional, Tuple

from .._native import Communicator, Operation, Process, Queue, Snapshot
from .words import clean, counted, size, wrapped
from .worlds import of_world

#: Operations of one queue that are told in words; more would not be read.
MAX_TOLD = 5


def write_explanation(snapshot: Snapshot, write: Callable[[str], object]) -> None:
    """One paragraph for each process."""
    for process in snapshot.processes:
        write(wrapped(" ".join(_sentences(process)), "- ", "  "))


def _sentences(process: Process) -> Iterator[str]:
    who = f"Rank {process.rank}{of_world(process)}" if process.rank is not None else f"Process {process.pid}"
    where = _where(process)
    waits = [sentence for communicator in process.communicators for sentence in _waits(communicator)]
    if where:
        yield f"{who} is in {where}."
    if not waits:
        yield f"{who} has nothing pending." if not where else "It has nothing pending."
        return
    subject = "It" if where else who
    for wait in waits:
        yield f"{subject} {wait}."
        subject = "It"
    for communicator in process.communicators:
        yield from _mismatches(communicator)


def _where(process: Process) -> str:
    if not process.calls:
        return ""
    call = process.calls[0]
    text = clean(str(call["function"]))
    if call.get("caller"):
        text += f", called by {clean(str(call['caller']))}"
    if call.get("file"):
        text += f" ({clean(str(call['file']).rsplit('/', 1)[-1])}, line {call['line']})"
    return text


def _told(queue: Queue) -> List[Operation]:
    found: List[Operation] = []
    # Bounded: a queue may be long, and most of it may be complete.
    for index in range(min(len(queue), 1000)):
        operation = queue[index]
        if operation.status == "pending" and not operation.internal:
            found.append(operation)
            if len(found) == MAX_TOLD:
                break
    return found


def _waits(communicator: Communicator) -> Iterator[str]:
    name = clean(communicator.name) or "a communicator without a name"
    for operation in _told(communicator.pending_receives):
        yield f"waits for a message from {_peer(operation)} with {_tag(operation)} in {name}"
    for operation in _told(communicator.pending_sends):
        message = f"message of {size(operation.desired_length)} with {_tag(operation)}"
        yield f"waits until {_peer(operation)} takes its {message} in {name}"


def _mismatches(communicator: Communicator) -> Iterator[str]:
    """Messages that have arrived where receives are pending, and why no receive takes them."""
    receives = _told(communicator.pending_receives)
    if not receives:
        return
    messages = communicator.unexpected_messages
    for index in range(min(len(messages), MAX_TOLD)):
        message = messages[index]
        same_source = [one for one in receives if one.any_source or _source(one) == _source(message)]
        if not same_source:
            continue
        wanted = sorted({one.desired_tag for one in same_source if not one.tag_wild and one.desired_tag is not None})
        if wanted and message.desired_tag not in wanted:
            tags = " or ".join(str(tag) for tag in wanted)
            yield (
                f"A message from {_peer(message)} has arrived, but with {_tag(message)}: "
                f"the receive asks for tag {tags}, so nobody takes it."
            )
    if len(messages) > MAX_TOLD:
        yield f"{counted(len(messages), 'message')} lie there in all."


def _source(operation: Operation) -> Tuple[Optional[int], Optional[int]]:
    return operation.desired_local_rank, operation.desired_global_rank


def _peer(operation: Operation) -> str:
    if operation.any_source:
        return "any rank"
    local, world = operation.desired_local_rank, operation.desired_global_rank
    if local is None:
        return "a rank that is not known"
    return f"rank {local}" if world is None or world == local else f"rank {local} (rank {world} in MPI_COMM_WORLD)"


def _tag(operation: Operation) -> str:
    if operation.tag_wild:
        return "any tag"
    return f"tag {operation.desired_tag}" if operation.desired_tag is not None else "a tag that is not known"
