"""What scripts (``scripts.py``) do by the rules of MPI, in any order in which their ranks may go on.

Standard sends of ``SMALL`` bytes are kept by the library, those of ``LARGE`` ones wait for their receive, as on all
MPIs that are tested. A collective is made of messages: in rooted ones to or from the root alone, so ranks leave them as
early as MPI allows; ``Observed`` says where they did not. Of non-blocking ones with a root each rank completes its own
as early as MPI allows or as late, by chance.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Dict, FrozenSet, Iterator, List, Optional, Sequence, Set, Tuple

from .scripts import (
    ANY,
    EXCHANGES,
    FROM_ROOT,
    NAP,
    NOBODY,
    NON_BLOCKING,
    NON_BLOCKING_FROM_ROOT,
    NON_BLOCKING_ROOTED,
    OUTSIDE,
    RECEIVES,
    ROOTED,
    SENDS,
    SMALL,
    SYNCHRONISING,
    SYNCHRONOUS,
    WAITS,
    Comm,
    Script,
    Step,
    members,
    place,
)  # fmt: skip

#: Rank and place in its script where it stays in a collective that it might have left, as its notes say.
Observed = FrozenSet[Tuple[int, int]]


@dataclass
class Operation:
    """A send or receive of a rank; ranks are those of the world."""

    rank: int
    comm: Comm
    #: ``None``: any.
    peer: Optional[int]
    tag: Optional[int]
    is_send: bool
    #: The library's own, of this collective.
    internal: str = ""
    #: The sender waits for the receive.
    synchronous: bool = False
    done: bool = False
    #: The place of its step.
    at: int = 0
    #: Of a non-blocking collective: the members that must have begun it before it is done.
    needed: List[int] = field(default_factory=list)
    #: What it was received by, or has received.
    other: Optional[Operation] = field(default=None, repr=False)

    def takes(self, message: Operation) -> bool:
        return (
            (self.comm, self.internal) == (message.comm, message.internal)
            and self.peer in (None, message.rank)
            and self.tag in (None, message.tag)
        )


class Machine:
    """The ranks of a job, which go on in an order that ``choose`` decides, until none of them can."""

    def __init__(self, scripts: Sequence[Script], choose: random.Random, observed: Observed = frozenset()) -> None:
        self.scripts, self.choose, self.observed = scripts, choose, observed
        self.size = len(scripts)
        self.at = [0] * self.size
        #: What the step in which a rank is has posted; ``None``: it has not begun it.
        self.own: List[Optional[List[Operation]]] = [None] * self.size
        self.receives: List[List[Operation]] = [[] for _ in scripts]
        self.unexpected: List[List[Operation]] = [[] for _ in scripts]
        self.requests: List[Dict[int, Operation]] = [{} for _ in scripts]
        self.persistent: List[Dict[int, Tuple[Step, int]]] = [{} for _ in scripts]
        #: Those that a rank has completed by waiting, by their identity.
        self.waited: Set[int] = set()
        self.operations: List[Operation] = []
        #: Non-blocking collectives, whose number on the communicator stands for the tag.
        self.started: List[Operation] = []
        #: Their functions and roots in the order in which ranks begin them, by communicator.
        self.order: Dict[Comm, List[Tuple[str, Tuple[int, ...]]]] = {}
        #: Whether ranks begin them in different order: what happens then no rule says.
        self.undefined = False
        #: How often ranks have entered a collective.
        self.entered: Dict[Tuple[Comm, str], List[int]] = {}

    def run(self) -> Machine:
        """Until nobody can go on."""
        going = True
        while going:
            order = list(range(self.size))
            self.choose.shuffle(order)
            going = any(self._advance(rank) for rank in order)
        return self

    def step(self, rank: int) -> Optional[Step]:
        """Where a rank is; ``None``: in MPI_Finalize."""
        script = self.scripts[rank]
        return script[self.at[rank]] if self.at[rank] < len(script) else None

    def outside(self, rank: int) -> bool:
        here = self.step(rank)
        return here is not None and here.name in OUTSIDE and here.numbers[0] > NAP

    def _advance(self, rank: int) -> bool:
        here = self.step(rank)
        if here is None or self.outside(rank):
            return False
        if self.own[rank] is None:
            self.own[rank] = self._begin(rank, here)
            entered = True
        else:
            entered = False
        if not self._can_leave(rank, here):
            return entered
        self._leave(rank, here)
        return True

    def _leave(self, rank: int, here: Step) -> None:
        asked = self.asked(rank, here) if here.name in (*WAITS, "test") else {}
        done = [slot for slot, operation in asked.items() if operation.done]
        if here.name in ("waitany", "waitsome"):
            self.choose.shuffle(done)
            # How many are done when it looks is a matter of time.
            done = done[: 1 if here.name == "waitany" else self.choose.randint(1, max(1, len(done)))]
        for slot in done:
            self.waited.add(id(self.requests[rank].pop(slot)))
        self.at[rank] += 1
        self.own[rank] = None

    def _can_leave(self, rank: int, here: Step) -> bool:
        own = self.own[rank] or []
        if here.name in ("probe", "mprobe", "until") and own:
            found = next((message for message in self.unexpected[rank] if own[0].takes(message)), None)
            if found is not None and here.name == "mprobe":
                self.unexpected[rank].remove(found)
                self._join(own[0], found)
            return found is not None
        if here.name in WAITS:
            open_ones = self.asked(rank, here).values()
            if here.name in ("waitany", "waitsome"):
                return not open_ones or any(operation.done for operation in open_ones)
            return all(operation.done for operation in open_ones)
        if here.name in SYNCHRONISING or ((rank, self.at[rank]) in self.observed and here.name in ROOTED):
            return not self.missing(rank) and all(operation.done for operation in own)
        return here.name in ("isend", "issend", "irecv", "start", *NON_BLOCKING) or all(
            operation.done for operation in own
        )

    def asked(self, rank: int, here: Step) -> Dict[int, Operation]:
        """The requests of a wait or test that are open, by their places."""
        return {slot: self.requests[rank][slot] for slot in here.numbers if slot in self.requests[rank]}

    def missing(self, rank: int) -> List[int]:
        """The members that have not entered the collective in which a rank is."""
        here = self.step(rank)
        assert here is not None
        counts = self.entered[place(here.numbers[0], rank), here.name]
        return [member for member in members(here.numbers[0], rank, self.size) if counts[member] < counts[rank]]

    def _begin(self, rank: int, here: Step) -> List[Operation]:
        name, numbers = here
        if name in ("psend", "precv"):
            self.persistent[rank][numbers[4]] = here, self.at[rank]
            return []
        if name == "start":
            template = self.persistent[rank][numbers[0]][0]
            posted = self._message(rank, template)
            self.requests[rank][numbers[0]] = posted[0]
            return posted
        if name in SYNCHRONISING or name in ROOTED:
            return self._collective(rank, here)
        if name in NON_BLOCKING:
            self.requests[rank][numbers[1]] = operation = self._join_started(rank, here)
            return [operation]
        if name in SENDS or name in RECEIVES or name in EXCHANGES:
            posted = self._message(rank, here)
            if name in ("isend", "issend", "irecv") and posted:
                self.requests[rank][numbers[4]] = posted[0]
            return posted
        return []

    def _message(self, rank: int, here: Step) -> List[Operation]:
        name, (comm, peer, tag, size, *rest) = here.name, here.numbers
        ranks = members(comm, rank, self.size)
        if peer == NOBODY:
            return []
        other = None if peer == ANY else ranks[peer]
        probe = name in ("probe", "mprobe", "until")
        if name in RECEIVES:
            receive = Operation(rank, place(comm, rank), other, None if tag < 0 else tag, False, at=self.at[rank])
            return [receive] if probe else [self._post(receive)]
        synchronous = name in SYNCHRONOUS or (size > SMALL and name != "bsend")
        send = Operation(rank, place(comm, rank), other, tag, True, synchronous=synchronous, at=self.at[rank])
        if name not in EXCHANGES:
            return [self._post(send)]
        source, wanted = (None if number == ANY else number for number in rest)
        source = None if source is None else ranks[source]
        back = Operation(rank, place(comm, rank), source, wanted, False, at=self.at[rank])
        return [self._post(back), self._post(send)]

    def _collective(self, rank: int, here: Step) -> List[Operation]:
        comm = place(here.numbers[0], rank)
        ranks = members(here.numbers[0], rank, self.size)
        self.entered.setdefault((comm, here.name), [0] * self.size)[rank] += 1
        if here.name in SYNCHRONISING:
            return []
        if here.name == "scan":
            return self._scan(rank, comm, ranks)
        root = ranks[here.numbers[1]]
        sends = (rank == root) == (here.name in FROM_ROOT)
        peers = [member for member in ranks if member != root] if rank == root else [root]
        at = self.at[rank]
        return [self._post(Operation(rank, comm, peer, None, sends, here.name, at=at)) for peer in peers]

    def _scan(self, rank: int, comm: Comm, ranks: List[int]) -> List[Operation]:
        own, at = ranks.index(rank), self.at[rank]
        higher = [Operation(rank, comm, peer, None, True, "scan", at=at) for peer in ranks[own + 1 :]]
        lower = [Operation(rank, comm, peer, None, False, "scan", at=at) for peer in ranks[:own]]
        return [self._post(operation) for operation in (*higher, *lower)]

    def _join_started(self, rank: int, here: Step) -> Operation:
        where, ranks = place(here.numbers[0], rank), members(here.numbers[0], rank, self.size)
        counts = self.entered.setdefault((where, ""), [0] * self.size)
        order = self.order.setdefault(where, [])
        own = here.name, here.numbers[2:]
        if counts[rank] == len(order):
            order.append(own)
        self.undefined |= order[counts[rank]] != own
        counts[rank] += 1
        operation = Operation(rank, where, None, counts[rank], False, here.name, at=self.at[rank])
        early = self.choose.random() < 0.5
        operation.needed = sources(here, rank, ranks) if early else ranks
        self.started.append(operation)
        for one in self.started:
            one.done = one.done or not self._without(one, one.needed)
        return operation

    def absent(self, operation: Operation) -> Tuple[List[int], List[int]]:
        """Who has not begun a non-blocking collective: those without which it cannot be done, and others."""
        ranks = members(operation.comm[0], operation.rank, self.size)
        here = self.scripts[operation.rank][operation.at]
        needed = self._without(operation, sources(here, operation.rank, ranks))
        return needed, [rank for rank in self._without(operation, ranks) if rank not in needed]

    def _without(self, operation: Operation, ranks: Sequence[int]) -> List[int]:
        counts = self.entered[operation.comm, ""]
        return [rank for rank in ranks if counts[rank] < (operation.tag or 0)]

    def _post(self, operation: Operation) -> Operation:
        self.operations.append(operation)
        if not operation.is_send:
            found = next((one for one in self.unexpected[operation.rank] if operation.takes(one)), None)
            if found is None:
                self.receives[operation.rank].append(operation)
            else:
                self.unexpected[operation.rank].remove(found)
                self._join(operation, found)
            return operation
        assert operation.peer is not None
        operation.done = not operation.synchronous
        receive = next((one for one in self.receives[operation.peer] if one.takes(operation)), None)
        if receive is None:
            self.unexpected[operation.peer].append(operation)
        else:
            self.receives[operation.peer].remove(receive)
            self._join(receive, operation)
        return operation

    def _join(self, receive: Operation, send: Operation) -> None:
        receive.done = send.done = True
        receive.other, send.other = send, receive

    def unfinished_transfers(self) -> Iterator[Operation]:
        """What only goes on while its rank is in MPI, of ranks that are not: whether it is done is a matter of time."""
        for operation in (*self.operations, *self.started):
            idle = self.step(operation.rank) is None or self.outside(operation.rank)
            send = operation if operation.is_send else operation.other
            pending = id(operation) not in self.waited and any(
                operation is one for one in self.requests[operation.rank].values()
            )
            if idle and pending and operation.internal in NON_BLOCKING:
                yield operation
            if idle and pending and operation.other is not None and send is not None and send.synchronous:
                yield operation

    def signature(self) -> Tuple[object, ...]:
        """What the end must be in every order."""
        messages = [sorted((m.rank, m.comm, m.tag or 0, m.internal) for m in queue) for queue in self.unexpected]
        waiting = [sorted((m.comm, m.peer or 0, m.tag or 0, m.internal) for m in queue) for queue in self.receives]
        slots = [sorted((slot, one.done) for slot, one in own.items()) for own in self.requests]
        return tuple(self.at), str(messages), str(waiting), str(slots)


def sources(here: Step, rank: int, ranks: List[int]) -> List[int]:
    """The members without which nobody's part of a non-blocking collective can be done."""
    if here.name not in NON_BLOCKING_ROOTED:
        return ranks
    root = ranks[here.numbers[2]]
    if here.name in NON_BLOCKING_FROM_ROOT:
        return [root]
    return ranks if rank == root else []


def outcome(
    scripts: Sequence[Script], seed: int, orders: int = 40, observed: Observed = frozenset()
) -> Optional[Machine]:
    """The end of scripts; ``None`` where it is not the same in all orders that are tried, or a matter of time."""
    choose = random.Random(seed)
    ends = [Machine(scripts, random.Random(choose.random()), observed).run() for _ in range(orders)]
    if any(end.undefined for end in ends) or len({end.signature() for end in ends}) > 1:
        return None
    if any(True for _ in ends[0].unfinished_transfers()):
        return None
    return ends[0]
