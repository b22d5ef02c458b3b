"""What follows from the end of scripts: who is stuck, who waits for whom, which messages nobody receives."""

from __future__ import annotations

from typing import Any, Iterator, List, Set, Tuple, Union

from .mpi_rules import Machine, Operation
from .scripts import HALF, NON_BLOCKING, ROOTED, SYNCHRONISING, WAITS, Step, members

#: Whom a rank waits for: a rank, or all or any of several; ``unclear`` ones may be either.
Need = Union[int, Tuple[str, List["Need"]]]


class Truth:
    """The end of a job, and what follows from it."""

    def __init__(self, end: Machine) -> None:
        self.end, self.size = end, end.size
        self.finished = {rank for rank in range(end.size) if end.step(rank) is None}
        self.outside = {rank for rank in range(end.size) if end.outside(rank)}
        self.polling = {rank for rank in range(end.size) if self.name(rank) in ("poll", "until")}
        self.needs = {
            rank: self._need(rank)
            for rank in range(end.size)
            if rank not in self.finished | self.outside | self.polling
        }
        #: Who never goes on whatever those outside do, where it waits for any of several, and where for all of them.
        self.surely, self.perhaps = self._stuck(all), self._stuck(any)

    def name(self, rank: int) -> str:
        here = self.end.step(rank)
        return "finalize" if here is None else here.name

    def _stuck(self, unclear: Any) -> Set[int]:
        free = self.outside | self.polling

        def held(need: Need) -> bool:
            if isinstance(need, int):
                return need not in free
            how, parts = need
            test = {"all": any, "any": all, "unclear": unclear}[how]
            return bool(parts) and bool(test([held(part) for part in parts]))

        while True:
            new = {rank for rank, need in self.needs.items() if rank not in free and not held(need)}
            if not new:
                return set(self.needs) - free
            free |= new

    def _need(self, rank: int) -> Need:
        here = self.end.step(rank)
        assert here is not None
        own = [one for one in self.end.own[rank] or [] if not one.done]
        if here.name in SYNCHRONISING or (here.name in ROOTED and not own):
            how = "all" if here.name in SYNCHRONISING else "unclear"
            return how, list(self.end.missing(rank))
        if here.name in WAITS:
            own = self._waited(rank, here)
        parts: List[Need] = [self._of(one) for one in own]
        if len(parts) == 1:
            return parts[0]
        return "any" if here.name in ("waitany", "waitsome") else "all", parts

    def _of(self, operation: Operation) -> Need:
        if operation.internal in NON_BLOCKING:
            needed, others = self.end.absent(operation)
            parts: List[Need] = [*needed]
            return "all", [*parts, ("unclear", [*others])] if others else parts
        if operation.peer is not None:
            return operation.peer
        return "any", list(self.members(operation.comm))

    def pending(self, rank: int) -> Iterator[Operation]:
        """The non-blocking collectives that a rank waits for."""
        here = self.end.step(rank)
        if here is not None and here.name in WAITS:
            yield from (one for one in self._waited(rank, here) if one.internal in NON_BLOCKING)

    def _waited(self, rank: int, here: Step) -> List[Operation]:
        return [one for one in self.end.asked(rank, here).values() if not one.done]

    def members(self, comm: Tuple[int, int]) -> List[int]:
        return members(comm[0], comm[1] if comm[0] == HALF else 0, self.size)

    def messages(self) -> Iterator[Operation]:
        """What was sent and is received nowhere, of the application's."""
        for queue in self.end.unexpected:
            yield from (one for one in queue if not one.internal)

    def waiting(self) -> Iterator[Operation]:
        """Receives of the application that have got nothing; and probes."""
        for queue in self.end.receives:
            yield from (one for one in queue if not one.internal)
        for rank in range(self.size):
            if self.name(rank) in ("probe", "mprobe", "until"):
                yield from self.end.own[rank] or []
