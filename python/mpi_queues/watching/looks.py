"""Looks at a running job, as often as is wanted: all ranks, or a few of them."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field, replace
from typing import Callable, Dict, FrozenSet, List, Mapping, Optional, Sequence, Tuple, Union

from .._native import Recorded, Snapshot
from ..errors import UserError
from ..nodes import reading as nodes
from ..nodes.engines import AUTO, PREFIXES
from ..request import Request
from ..system.watching import watch
from ..targets import asking, jobs
from ..targets.target import Target
from . import clocks
from .clocks import Clock

#: A process by its host and its number.
Place = Tuple[str, int]
#: A process of this machine by its number, or any one.
Who = Union[int, Place]

#: Of the threads of a process that runs with the flight recorder, how far each is.
Steps = List[Tuple[int, int]]

#: Kinds of errors that say that nothing is there any more, or nothing yet.
_NOTHING = frozenset(("gone", "no_job", "no_ranks", "no_process"))


#: Seconds in which threads that stood have gone on.
_SETTLING = 0.05

#: So many reasons why nothing can be read are told.
_MOST_TOLD = 3


@dataclass(frozen=True)
class Look:
    """What was read, and what the kernel had counted when that began."""

    snapshot: Snapshot
    failures: Tuple[UserError, ...]
    #: When it began (``time.monotonic``), and when the processes went on.
    begun: float
    ended: float
    #: Of processes of this machine, without what looks have cost them: to stop and to go on counts, too.
    clocks: Mapping[int, Clock] = field(default_factory=dict)
    #: For how many seconds each has had a processor, with that.
    used: Mapping[int, float] = field(default_factory=dict)
    #: Of processes of this machine that run with the flight recorder, how far they were when it began.
    steps: Mapping[int, Steps] = field(default_factory=dict)
    #: Of those that stand outside MPI, what they have started.
    started: Mapping[int, Mapping[int, Optional[float]]] = field(default_factory=dict)
    #: Those whose messages were seen to go before it, and those whose messages may have gone where nobody saw them.
    moving: FrozenSet[Who] = frozenset()
    unseen: FrozenSet[Who] = frozenset()
    #: Whether it is of all ranks.
    whole: bool = True

    @property
    def places(self) -> List[Place]:
        """The processes that are in it."""
        return [(host, pid) for *_, host, pid in self.snapshot.identities() if host is not None and pid is not None]


class Nothing(Exception):
    """There is no rank to be looked at: there is none yet, or none any more."""


class Looks:
    """The ranks of a job, which are found again at each look at all of them."""

    def __init__(self, find: Callable[[], Sequence[Target]], request: Request) -> None:
        #: Finds the ranks.
        self.finder = find
        #: How processes are read.
        self.request = replace(request, tells_of_all=True)
        #: The ranks that were found last.
        self.targets: List[Target] = []
        #: What looks have cost each process, as its clock counts it.
        self._own: Dict[int, Clock] = {}
        self._recorded = Recorded()

    @property
    def pids(self) -> List[int]:
        """The processes of this machine that were found last."""
        return [target.pid for target in asking.live(self.targets)]

    @property
    def on_nodes(self) -> bool:
        """Whether some are read by agents of other nodes."""
        return bool(asking.on_nodes(self.targets))

    def find(self) -> List[Target]:
        """The ranks as they are now.

        Raises:
            Nothing: where there are none.
            UserError: where they cannot be found.
        """
        try:
            self.targets = list(self.finder())
        except UserError as error:
            if error.kind in _NOTHING:
                self.targets = []
                raise Nothing(str(error)) from None
            raise
        return self.targets

    def all(self, seconds: float = 0.0) -> Look:
        """All ranks; before that their messages are watched for so many seconds, and then their stacks are read, too.

        Raises:
            Nothing: where there is none.
            UserError: where they cannot be found, or none can be read.
        """
        wanted = self.find()
        begun = time.monotonic()
        moving: List[Who] = []
        unseen: List[Who] = []
        request = self.request
        if seconds:
            request = replace(request, stacks=True)
            moving, unseen = self._watched(wanted, request, seconds)
        look = self._look(wanted, request, begun, whole=True)
        elsewhere = nodes.between(target.job for target in asking.on_nodes(wanted))
        moving += elsewhere.moving
        unseen += elsewhere.unseen
        # Agents are not kept for minutes.
        nodes.close_all()
        outside = [one.pid for one in look.snapshot.processes if one.pid in look.clocks and not one.calls]
        started = clocks.of_started([pid for pid in outside if pid is not None]) if outside else {}
        return replace(look, started=started, moving=frozenset(moving), unseen=frozenset(unseen))

    def some(self, pids: Sequence[int]) -> Look:
        """These processes of this machine, as they were found last.

        Raises:
            Nothing: where there is none any more.
            UserError: where none can be read.
        """
        wanted = [one for one in asking.live(self.targets) if one.pid in pids]
        return self._look(wanted, self.request, time.monotonic(), whole=False)

    def steps(self) -> Dict[int, Steps]:
        """How far processes of this machine are, as they were found last: of those that run with the flight recorder.
        Nothing is stopped for it."""
        return self._recorded.steps(self.pids)

    def _watched(self, wanted: Sequence[Target], request: Request, seconds: float) -> Tuple[List[Who], List[Who]]:
        """Watches the messages of ranks; agents do so between the two looks that they take."""
        for target in asking.on_nodes(wanted):
            # An agent has looked before it watches.
            with contextlib.suppress(UserError):
                asking.snapshots([target], request, quiet=True)
                nodes.begin(target.job, request, seconds)
        seen = watch(self.pids, time.monotonic() + seconds)
        return [*sorted(seen.moving)], [*sorted(seen.unseen)]

    def _look(self, wanted: Sequence[Target], request: Request, begun: float, *, whole: bool) -> Look:
        pids = [target.pid for target in asking.live(wanted)]
        before = clocks.of(pids)
        steps = self._recorded.steps(self.pids, anew=whole)
        found = asking.snapshots(wanted, request, quiet=True)
        ended = time.monotonic()
        # To go on takes a moment of a processor, which is not theirs.
        time.sleep(_SETTLING)
        after = clocks.of(pids)
        own = {pid: self._own.get(pid, Clock({})) for pid in pids}
        told = {pid: clock.without(own[pid]) for pid, clock in before.items()}
        self._own.update({pid: clock.without(told[pid]) for pid, clock in after.items() if pid in told})
        used = {pid: clock.seconds for pid, clock in after.items()}
        if not found.told:
            said = "; ".join(str(failure.args[0]) for failure in found.failures[:_MOST_TOLD])
            if all(failure.kind in _NOTHING for failure in found.failures):
                raise Nothing(said)
            raise UserError(said, kind=found.failures[0].kind)
        return Look(found.merged(), tuple(found.failures), begun, ended, told, used, steps, whole=whole)


def finder(job: str, timeout: float, engine: str) -> Tuple[Callable[[], Sequence[Target]], Optional[int], str]:
    """What finds the ranks of a job, its launcher on this machine, and what it is called.

    Raises:
        UserError: where there is no such job.
    """
    if job.startswith(PREFIXES):
        target = jobs.on_nodes(job, engine)
        # Says so where there is no such job.
        target.engine.nodes()
        return lambda: [target], None, job
    found = jobs.found_job(job, timeout)
    return of_launcher(found.pid, timeout, engine), found.pid, f"{found.launcher} (pid {found.pid})"


def of_launcher(pid: int, timeout: float, engine: str = AUTO) -> Callable[[], Sequence[Target]]:
    """What finds the ranks of a launcher of this machine."""

    def ranks() -> List[Target]:
        found = jobs.found_job(str(pid), timeout)
        return jobs.reaching_out(found, jobs.of_job(found), engine)

    return ranks
