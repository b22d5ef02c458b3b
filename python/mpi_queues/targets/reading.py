"""Reads processes and core files of this machine that are asked for at once: in one thread, within one limit."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from typing import Callable, Dict, List, Mapping, Optional, Sequence

from .._native import Snapshot
from ..report import progress
from ..request import Request
from ..system import processes
from ..system.paths import shown
from . import process, worker
from .answer import Answer, ReadTarget, late
from .core import CoreTarget
from .process import PidTarget
from .target import Answers

#: No one of several processes takes a larger part of the time: its budgets end before (``crates/target``, ``budget.rs``
#: and ``file_budget.rs``). What takes longer stands.
_SHARE_OF_ONE = 0.5

#: What may be wanted to read processes and core files: there is but mpi-queues itself.
VIA = ("auto", "native")

#: Told how many targets are done, of how many.
Progress = Callable[[int, int], None]


def via_instead(text: str) -> str:
    """What to do where somebody wants to have something else read than mpi-queues itself."""
    how = {"gdb": "gdb -p PID", "lldb": "lldb -p PID"}.get(text)
    if how is None:
        return f"{shown(text)}: not one of {', '.join(VIA)}"
    return f"the command line reads without a debugger; start one yourself ({how}) and type in it: mpi diagnose"


def ask(targets: Sequence[ReadTarget], request: Request, found: Answers, quiet: bool) -> None:
    """Adds what all of them answer."""
    # What is read stands meanwhile.
    found.states.update({one.pid: processes.state_word(one.pid) for one in targets if isinstance(one, PidTarget)})
    answers = read_all(targets, request, progress.of_processes(quiet))
    found.refused += [(answer.target, answer.error) for answer in answers if answer.error is not None]
    for answer in answers:
        if answer.error is None:
            told = _placed(answer.told, answer, found.states) if request.gives_snapshots else answer.told
            found.told.append((answer.target.label, told))
    notes = _times(answers) if request.gives_snapshots else []
    if notes:
        found.told.append(("", Snapshot.merged([], notes=notes)))


def read_all(
    targets: Sequence[ReadTarget],
    request: Request,
    progress: Progress = lambda done, total: None,
) -> List[Answer]:
    """What all targets answer, those of a job stopped together.

    ``progress`` is told how many are done, of how many.

    Raises:
        KeyboardInterrupt: after every process goes on.
    """
    reading = _Reading(targets, request)

    def work(asker: worker.Asker) -> None:
        reading.run(asker, lambda: asker.tell(lambda: progress(reading.done, len(targets))))

    progress(0, len(targets))
    end = time.monotonic() + request.timeout
    while True:
        try:
            worker.run(work)
            break
        except worker.Late:
            # What is still read is not told any more; the others are read without the one that stands.
            reading, stands = reading.until_now(), reading.current
            left = end - time.monotonic()
            if stands is None or left < 0.0:
                break
            reading.answers[stands] = Answer(stands, error=late(stands, request.timeout))
            reading.request = request.within(left)
    answers = reading.answers
    unread = [target for target in targets if target not in answers]
    answers.update({target: Answer(target, error=late(target, request.timeout)) for target in unread})
    return [answers[target] for target in targets]


@dataclass
class _Reading:
    """A reading of targets, as far as it is done. The thread that reads adds to it."""

    targets: Sequence[ReadTarget]
    request: Request
    answers: Dict[ReadTarget, Answer] = field(default_factory=dict)
    #: The target that is read at this moment; None where something is done to all.
    current: Optional[ReadTarget] = None

    @property
    def done(self) -> int:
        """How many targets are done."""
        return len(self.answers)

    def until_now(self) -> _Reading:
        """What is known by now."""
        return replace(self, answers=dict(self.answers), current=None)

    def run(self, asker: worker.Asker, tell: Callable[[], None]) -> None:
        """Reads all that is not read yet."""
        request = self.request
        ready: List[PidTarget] = []

        def begin(target: Optional[ReadTarget]) -> None:
            self.current = target
            alone = target is None or len(self.targets) == 1 or _asks_a_plugin(request)
            asker.step(math.inf if alone else request.timeout * _SHARE_OF_ONE)

        asker.part(request.timeout)
        for target in self.targets:
            if isinstance(target, PidTarget) and target not in self.answers:
                error = process.unreadable(target)
                if error is None:
                    ready.append(target)
                else:
                    self.answers[target] = Answer(target, error=error)
        # A plug-in has the whole time for each process.
        asker.part(request.timeout * (1 + len(ready) if _asks_a_plugin(request) else 1))
        for target, result in process.Group(ready, request, begin).read() if ready else ():
            self.answers[target] = result
            tell()
        for target in self.targets:
            if isinstance(target, CoreTarget) and target not in self.answers:
                asker.part(request.timeout * (2 if _asks_a_plugin(request) else 1))
                self.answers[target] = target.read(request)
                tell()


def _asks_a_plugin(request: Request) -> bool:
    return request.source == "plugin" or request.action == "compare"


def _times(answers: Sequence[Answer]) -> List[str]:
    """How far apart in time the ranks of a job were stopped, and how long it took; nothing where they were not read
    together."""
    stopped = [answer.stopped for answer in answers if answer.stopped is not None]
    ended = [answer.released for answer in answers if answer.released is not None]
    if len(stopped) < 2 or not ended:
        return []
    whole = max(ended) - min(stopped)
    alone = sum(answer.stopped is None for answer in answers)
    told = (
        f"{len(stopped)} ranks were stopped within {max(stopped) - min(stopped):.2f} s and read in {whole:.2f} s, "
        f"{whole / len(stopped) * 1000:.0f} ms a rank; each queue is as of the moment its rank was stopped"
        + (f". {alone} more were read later, one by one" if alone else "")
    )
    return [told]


def _placed(snapshot: Snapshot, answer: Answer, states: Mapping[int, str]) -> Snapshot:
    """With what its job knows of the process, when it was stopped, and what it was at before."""
    if not isinstance(answer.target, PidTarget):
        return snapshot
    pid, place = answer.target.pid, answer.target.place
    if place is None:
        return snapshot.placed(pid, rank=None, world_size=None, captured_at=None, state=states.get(pid))
    at = snapshot.captured_at
    if answer.stopped is not None:
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(answer.stopped))
        at = f"{seconds}.{int(answer.stopped % 1 * 1000):03d}Z"
    return snapshot.placed(
        pid, rank=place.entry.rank, world_size=place.world_size, captured_at=at, state=states.get(pid)
    )
