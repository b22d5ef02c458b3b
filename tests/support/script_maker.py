"""Random scripts for ``tests/programs/scripted.c``: correct ones, of which most are then spoilt."""

from __future__ import annotations

import random
from typing import Callable, Dict, List, Optional

from .mpi_rules import outcome
from .scripts import (
    ANY,
    COPY,
    EXCHANGES,
    HALF,
    LARGE,
    NOBODY,
    NON_BLOCKING,
    NON_BLOCKING_ROOTED,
    OUTSIDE,
    RECEIVES,
    REVERSED,
    ROOTED,
    SENDS,
    SMALL,
    SYNCHRONISING,
    WORLD,
    Script,
    Step,
    members,
    step,
)

#: A rank that is outside MPI is there for longer than anybody looks.
LONG = 500

TAGS = (17, 18, 19, 40)


class Maker:
    """Makes correct scripts: what happens between ranks happens in one order for all of them."""

    def __init__(self, choose: random.Random, size: int, wildcards: bool, naps: bool = False) -> None:
        self.choose, self.size, self.wildcards = choose, size, wildcards
        self.scripts: List[Script] = [[] for _ in range(size)]
        self.open: List[List[int]] = [[] for _ in range(size)]
        self.slots = [0] * size
        self.roots: Dict[int, int] = {}
        #: Whether ranks are outside MPI for a moment at times.
        self.naps = naps

    def make(self, events: int) -> List[Script]:
        for _ in range(events):
            self.choose.choices([self._message, self._collective, self._exchange], [6, 3, 1])[0]()
            for rank in range(self.size):
                if self.open[rank] and self.choose.random() < 0.4:
                    self._wait(rank)
            if self.naps and self.choose.random() < 0.4:
                nap = step(self.choose.choice(OUTSIDE), self.choose.randint(1, 3))
                self.scripts[self.choose.randrange(self.size)].append(nap)
        for rank in range(self.size):
            if self.open[rank]:
                self._wait(rank)
        return self.scripts

    def _comm(self) -> int:
        return self.choose.choices([WORLD, COPY, HALF, REVERSED], [5, 2, 2, 2])[0]

    def _pair(self) -> Optional[List[int]]:
        """A communicator, two members and their ranks in it."""
        comm = self._comm()
        first = self.choose.randrange(self.size)
        ranks = members(comm, first, self.size)
        others = [rank for rank in ranks if rank != first]
        if not others:
            return None
        second = self.choose.choice(others)
        return [comm, first, second, ranks.index(first), ranks.index(second)]

    def _slot(self, rank: int) -> int:
        self.slots[rank] += 1
        return self.slots[rank] - 1

    def _message(self) -> None:
        pair = self._pair()
        if pair is None:
            return
        comm, sender, receiver, from_, to = pair
        tag, size = (
            self.choose.choice(TAGS),
            LARGE if self.choose.random() < 0.25 else self.choose.choice((0, 4, SMALL)),
        )
        sends = ["send", "ssend", "isend", "issend", "bsend", "psend"]
        name = self.choose.choices(sends, [8, 3, 5, 2, 1, 1])[0]
        if self.slots[sender] >= 12 and name in ("isend", "issend", "psend"):
            name = "send"
        numbers = [comm, to, tag, SMALL if name == "bsend" else size]
        self._post(sender, name, numbers)
        wanted = -1 if self.wildcards and self.choose.random() < 0.15 else tag
        source = -1 if self.wildcards and self.choose.random() < 0.15 else from_
        name = self.choose.choices(RECEIVES, [16, 12, 2, 2, 2, 1])[0]
        if self.slots[receiver] >= 12 and name in ("irecv", "precv"):
            name = "recv"
        self._post(receiver, name, [comm, source, wanted, LARGE])
        if name in ("probe", "until"):
            self.scripts[receiver].append(step("recv", comm, source, wanted, LARGE))

    def _start(self, rank: int, name: str, comm: int, root: int) -> None:
        slot = self._slot(rank)
        self.scripts[rank].append(step(name, comm, slot, *([root] if name in NON_BLOCKING_ROOTED else [])))
        self.open[rank].append(slot)

    def _post(self, rank: int, name: str, numbers: List[int]) -> None:
        script = self.scripts[rank]
        if name in ("isend", "issend", "irecv", "psend", "precv"):
            slot = self._slot(rank)
            # A receive may be posted long before its message is sent.
            at = self.choose.randint(0, len(script)) if name == "irecv" and self.choose.random() < 0.3 else len(script)
            made = [step(name, *numbers, slot)]
            if name.startswith("p"):
                made.append(step("start", slot))
            script[at:at] = made
            self.open[rank].append(slot)
        else:
            script.append(step(name, *numbers))

    def _wait(self, rank: int) -> None:
        slots, script = self.open[rank], self.scripts[rank]
        self.choose.shuffle(slots)
        how = self.choose.choices(["each", "all", "any", "some", "poll", "test"], [4, 4, 2, 2, 1, 1])[0]
        if how == "any" or how == "some":
            script.append(step(f"wait{how}", *slots))
        if how == "poll":
            script.append(step("poll", slots[0]))
        if how == "test":
            script.append(step("test", slots[0]))
        if how == "each":
            script.extend(step("wait", slot) for slot in slots)
        else:
            script.append(step("waitall", *slots))
        self.open[rank] = []

    def _exchange(self) -> None:
        pair = self._pair()
        if pair is None:
            return
        comm, first, second, one, two = pair
        tags = self.choose.choice(TAGS), self.choose.choice(TAGS)
        size = self.choose.choice((SMALL, LARGE))
        for rank, to, tag, wanted in ((first, two, *tags), (second, one, *reversed(tags))):
            source = ANY if self.wildcards and self.choose.random() < 0.15 else to
            numbers = (comm, to, tag, size, source, wanted)
            self.scripts[rank].append(step(self.choose.choice(EXCHANGES), *numbers))

    def _collective(self) -> None:
        comm = self._comm()
        ranks = members(comm, self.choose.randrange(self.size), self.size)
        root = self.roots.setdefault(comm, self.choose.randrange(len(ranks)))
        root = min(root, len(ranks) - 1)
        # A member has no room for another request.
        full = any(self.slots[rank] >= 14 for rank in ranks)
        names = (*SYNCHRONISING, *ROOTED) if full else (*SYNCHRONISING, *ROOTED, *NON_BLOCKING, *NON_BLOCKING)
        name = self.choose.choice(names)
        for rank in ranks:
            if name in NON_BLOCKING:
                self._start(rank, name, comm, root)
                if self.choose.random() < 0.3:
                    self._wait(rank)
                continue
            self.scripts[rank].append(step(name, comm, root) if name in ROOTED else step(name, comm))


class Spoiler:
    """Makes one mistake in scripts."""

    def __init__(self, choose: random.Random) -> None:
        self.choose = choose

    def spoil(self, scripts: List[Script]) -> None:
        kinds: List[Callable[[List[Script], int], None]] = [
            self._drop, self._drop, self._tag, self._tag, self._peer, self._comm, self._swap, self._swap,
            self._end, self._sleep, self._send, self._receive, self._collective, self._larger, self._cross,
            self._cross,
        ]  # fmt: skip
        self.choose.choice(kinds)(scripts, self.choose.randrange(len(scripts)))

    def _at(self, script: Script, *names: str) -> Optional[int]:
        found = [at for at, one in enumerate(script) if not names or one.name in names]
        return self.choose.choice(found) if found else None

    def _drop(self, scripts: List[Script], rank: int) -> None:
        at = self._at(scripts[rank])
        if at is not None and scripts[rank][at].name not in ("psend", "precv"):
            del scripts[rank][at]

    def _change(self, scripts: List[Script], rank: int, index: int, change: Callable[[int], int]) -> None:
        at = self._at(scripts[rank], *SENDS, *RECEIVES, *EXCHANGES)
        if at is not None:
            name, numbers = scripts[rank][at]
            scripts[rank][at] = Step(name, (*numbers[:index], change(numbers[index]), *numbers[index + 1 :]))

    def _tag(self, scripts: List[Script], rank: int) -> None:
        self._change(scripts, rank, 2, lambda _tag: self.choose.choice((17, 18, 20)))

    def _peer(self, scripts: List[Script], rank: int) -> None:
        at = self._at(scripts[rank], *SENDS, *RECEIVES)
        if at is not None:
            name, numbers = scripts[rank][at]
            peers = list(range(len(members(numbers[0], rank, len(scripts)))))
            # Nobody: as a neighbour beyond the edge of a grid.
            peer = self.choose.choice([*peers, NOBODY] if name in ("send", "recv") else peers)
            scripts[rank][at] = Step(name, (numbers[0], peer, *numbers[2:]))

    def _comm(self, scripts: List[Script], rank: int) -> None:
        self._change(scripts, rank, 0, lambda comm: COPY if comm == WORLD else WORLD)

    def _swap(self, scripts: List[Script], rank: int) -> None:
        script = scripts[rank]
        if len(script) > 1:
            at = self.choose.randrange(len(script) - 1)
            names = script[at].name, script[at + 1].name
            if names[1] != "start":
                script[at], script[at + 1] = script[at + 1], script[at]

    def _end(self, scripts: List[Script], rank: int) -> None:
        del scripts[rank][self.choose.randint(0, len(scripts[rank])) :]

    def _sleep(self, scripts: List[Script], rank: int) -> None:
        away(self.choose, scripts[rank])

    def _send(self, scripts: List[Script], rank: int) -> None:
        peer, tag = self.choose.randrange(len(scripts)), self.choose.choice(TAGS)
        name = self.choose.choice(("send", "ssend"))
        size = self.choose.choice((4, LARGE))
        scripts[rank].insert(self.choose.randint(0, len(scripts[rank])), step(name, WORLD, peer, tag, size))

    def _receive(self, scripts: List[Script], rank: int) -> None:
        peer, tag = self.choose.randrange(-1, len(scripts)), self.choose.choice(TAGS)
        name = self.choose.choice(("recv", "probe"))
        scripts[rank].insert(self.choose.randint(0, len(scripts[rank])), step(name, WORLD, peer, tag, LARGE))

    def _collective(self, scripts: List[Script], rank: int) -> None:
        at = self._at(scripts[rank], *SYNCHRONISING, *ROOTED)
        if at is not None:
            comm = scripts[rank][at].numbers[0]
            scripts[rank][at] = step(self.choose.choice(SYNCHRONISING), comm)

    def _cross(self, scripts: List[Script], rank: int) -> None:
        """Two collectives of a rank on two communicators change places, each with the wait that is for it alone."""
        script = scripts[rank]
        places = [at for at, one in enumerate(script) if one.name in (*SYNCHRONISING, *ROOTED, *NON_BLOCKING)]
        pairs = [
            (one, other)
            for one in places
            for other in places
            if one < other and script[one].numbers[0] != script[other].numbers[0]
        ]
        if not pairs:
            return
        one, other = self.choose.choice(pairs)

        def end(at: int) -> int:
            waits = script[at].name in NON_BLOCKING and script[at + 1 : at + 2] == [step("wait", script[at].numbers[1])]
            return at + 1 + waits

        first, second = script[one : end(one)], script[other : end(other)]
        script[one : end(other)] = second + script[end(one) : other] + first

    def _larger(self, scripts: List[Script], rank: int) -> None:
        at = self._at(scripts[rank], *(name for name in SENDS if name != "bsend"))
        if at is not None:
            name, numbers = scripts[rank][at]
            scripts[rank][at] = Step(name, (*numbers[:3], LARGE, *numbers[4:]))


def away(choose: random.Random, script: Script) -> None:
    """Keeps a rank outside MPI."""
    at = choose.choice([at for at in range(len(script) + 1) if at == len(script) or script[at].name != "start"])
    script.insert(at, step(choose.choice(OUTSIDE), LONG))


def stuck_scripts(seed: int, naps: bool = False) -> List[Script]:
    """Scripts of which some ranks stay where they are for ever, or wait for one that is outside MPI."""
    choose = random.Random(seed)
    while True:
        maker = Maker(choose, choose.choice((2, 2, 3, 3, 4)), choose.random() < 0.5, naps)
        scripts = maker.make(choose.randint(2, 6))
        for _ in range(choose.choices([0, 1, 2], [2, 5, 3])[0]):
            Spoiler(choose).spoil(scripts)
        if all_end(scripts, seed):
            away(choose, choose.choice(scripts))
        end = outcome(scripts, seed)
        if end is not None and any(end.step(rank) is not None and not end.outside(rank) for rank in range(end.size)):
            return scripts


def endless_scripts(seed: int) -> List[Script]:
    """Correct scripts that begin anew at their end."""
    choose = random.Random(seed)
    while True:
        scripts = Maker(choose, choose.choice((2, 2, 3)), wildcards=False).make(choose.randint(2, 6))
        used = {one.name for script in scripts for one in script}
        if (
            any(not script for script in scripts)
            or used & {"bsend", "psend", "precv", "dup"}
            or not all_end([3 * script for script in scripts], seed)
        ):
            continue
        for script in scripts:
            if choose.random() < 0.5:
                script.append(step("pause"))
            script.extend([step("barrier", WORLD), step("again")])
        return scripts


def ending_scripts(seed: int) -> List[Script]:
    """Correct scripts that come to their end, whoever is faster."""
    choose = random.Random(seed)
    while True:
        scripts = Maker(choose, choose.choice((2, 3, 4)), wildcards=False).make(choose.randint(8, 16))
        if all_end(scripts, seed):
            return scripts


def without_matched_probes(scripts: List[Script]) -> List[Script]:
    """The same, where a message is received at once instead."""
    return [[one._replace(name="recv") if one.name == "mprobe" else one for one in script] for script in scripts]


def all_end(scripts: List[Script], seed: int) -> bool:
    end = outcome(scripts, seed)
    return end is not None and all(end.step(rank) is None for rank in range(end.size))
