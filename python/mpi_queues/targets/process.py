"""Live processes of this machine as targets: they are stopped together, and read.

The kernel lets a process go on whose tracer has ended: whatever happens to us, it is left as it was found.
"""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass
from typing import Callable, ClassVar, Dict, Iterator, List, Optional, Sequence, Tuple

from .. import _native
from ..errors import UserError
from ..request import Request
from ..system import advice, attaching, processes
from .answer import Answer, ReadTarget, asked, ended
from .target import Place

#: All threads stand within so many seconds, or something holds one of them in the kernel.
_STOP_LIMIT = 5.0


@dataclass(frozen=True)
class PidTarget(ReadTarget):
    """A live process of this machine."""

    left: ClassVar[str] = "; it is as it was before"

    pid: int
    #: Its place in its job, where it was named by that.
    place: Optional[Place] = None

    @property
    def label(self) -> str:
        return f"{self.place.entry.name} (pid {self.pid})" if self.place else f"pid {self.pid}"

    @property
    def has_ended(self) -> bool:
        # Also a process that its parent has not waited for yet.
        return processes.has_ended(self.pid)


def unreadable(target: PidTarget) -> Optional[UserError]:
    """Why a process may not be read; None where it may."""
    try:
        attaching.check_readable(target.pid)
    except UserError as error:
        return _with_the_rest(target, error)
    return None


class _Pool(threading.local):
    """The processes that were read last: a second look at them finds what does not change. Who traces a process is a
    thread."""

    def __init__(self) -> None:
        self._layouts: Optional[str] = None
        self._answered = 0
        self._started: Dict[int, Optional[int]] = {}
        self._processes: Optional[_native.LiveProcesses] = None

    def of(self, pids: Sequence[int], layouts: Optional[str]) -> _native.LiveProcesses:
        started = {pid: processes.start_time(pid) for pid in pids}
        # What was found out while a file system did not answer lacks what that has.
        answered = _native.answered_again()
        same = self._layouts == layouts and self._answered == answered
        same = same and all(self._started.get(pid) == at for pid, at in started.items())
        if self._processes is None or not same:
            self._layouts, self._answered, self._started = layouts, answered, started
            self._processes = _native.LiveProcesses(layouts=layouts)
        return self._processes


_POOL = _Pool()


class Group:
    """Processes that are stopped together: they are read one after the other, and go on."""

    def __init__(
        self, targets: Sequence[PidTarget], request: Request, begin: Callable[[Optional[PidTarget]], None]
    ) -> None:
        self._targets = targets
        self._request = request
        #: Told which is read next; None: something is done to all.
        self._begin = begin
        self._deadline = time.monotonic() + request.timeout
        _native.begin_look(self._deadline)
        self._held = _POOL.of([target.pid for target in targets], request.layouts)

    def read(self) -> Iterator[Tuple[PidTarget, Answer]]:
        """Each as soon as it is read."""
        request = self._request
        try:
            rest = list(self._targets)
            if request.action in ("read", "stacks") and request.source != "plugin":
                self._rehearse()
                rest = []
                yield from self._read_copies(rest)
            if rest:
                yield from self._read_standing(rest)
        finally:
            self._held.release_all()

    def _stop(self, targets: Sequence[PidTarget], *, rehearsal: bool = False) -> None:
        limit = min(_STOP_LIMIT, self._request.timeout)
        self._held.stop([target.pid for target in targets], limit, self._deadline, rehearsal=rehearsal)

    def _stopped(self, targets: Sequence[PidTarget]) -> Tuple[List[Tuple[PidTarget, Answer]], List[PidTarget]]:
        """Stops them, all together: why some do not stand, and the others."""
        self._stop(targets)
        refused = {pid: (kind, text) for pid, kind, text in self._held.failures}
        answers = [
            (target, Answer(target, error=_refusal(target, *refused[target.pid])))
            for target in targets
            if target.pid in refused
        ]
        return answers, [target for target in targets if target.pid not in refused]

    def _read_copies(self, rest: List[PidTarget]) -> Iterator[Tuple[PidTarget, Answer]]:
        """Copies what was asked for when they were read before, and reads the copies; those of which a copy lacks
        something are added to ``rest``."""
        answers, standing = self._stopped(self._targets)
        released = self._held.copy()
        yield from answers
        for target in standing:
            answer = self._answer(target, self._held.copied)
            if self._held.missed(target.pid) or answer.error is not None:
                rest.append(target)
                continue
            self._tell_times(target, answer, released)
            yield target, answer
        self._begin(None)

    def _read_standing(self, targets: Sequence[PidTarget]) -> Iterator[Tuple[PidTarget, Answer]]:
        """Reads processes while they stand."""
        refused, standing = self._stopped(targets)
        yield from refused
        answers = []
        for target in standing:
            answer = self._answer(target, self._held.session)
            answers.append(answer)
            # Should the next one never be read, this one was.
            yield target, answer
        self._begin(None)
        self._held.release_all()
        released = time.time()
        for target, answer in zip(standing, answers):
            self._tell_times(target, answer, released)

    def _answer(self, target: PidTarget, session: Callable[[int], _native.Session]) -> Answer:
        def opened() -> _native.Session:
            found = session(target.pid)
            if target.place is not None:
                found.set_identity(target.place.universe_rank)
            return found

        self._begin(target)
        return asked(target, self._request, opened)

    def _tell_times(self, target: PidTarget, answer: Answer, released: float) -> None:
        """Of the ranks of a job: when they were stopped, and when they went on."""
        if target.place is not None and answer.error is None:
            answer.stopped, answer.released = self._held.stopped_at(target.pid), released

    def _rehearse(self) -> None:
        """Reads what was not read before once while it runs: then files are known, and which memory is wanted. So
        the processes stand only as long as it takes to copy and to understand that. Nothing that was found so is
        told."""
        fresh = [target for target in self._targets if not self._held.knows(target.pid)]
        if not fresh:
            return
        self._stop(fresh, rehearsal=True)
        sessions: List[Tuple[PidTarget, _native.Session]] = []
        for target in fresh:
            # What is wrong is told where it counts.
            with contextlib.suppress(_native.NativeError):
                sessions.append((target, self._held.session(target.pid)))
        self._held.let_run()
        for target, session in sessions:
            self._begin(target)
            with contextlib.suppress(_native.NativeError):
                self._request.ask(session)
        self._begin(None)


def _refusal(target: PidTarget, kind: str, text: str) -> UserError:
    if kind == "gone" or target.has_ended:
        return ended(target)
    if kind == "no_permission":
        more = UserError(f"{target.label}: {text}", help=advice.with_rights(), kind=kind)
        return unreadable(target) or _with_the_rest(target, more)
    helps = {
        "timeout": f"to see what the kernel waits for, type: cat /proc/{target.pid}/task/*/stack (as root)",
        "late": "allow more time with --timeout SECONDS",
        "traced": "detach that debugger first, or type in it: mpi queues",
        "other_machine": f"open it in gdb, type: gdb -p {target.pid}, and there: mpi diagnose",
    }
    return UserError(f"{target.label}: {text}", help=helps.get(kind, ""), kind=kind)


def _with_the_rest(target: PidTarget, error: UserError) -> UserError:
    """Where a process may not be read: with what may be known of it all the same."""
    known = processes.known_without_rights(target.pid) if error.kind == "no_permission" else ""
    if not known:
        return error
    return UserError(
        f"{error.args[0]}; without that, all that is known of it: {known}", help=error.help, kind=error.kind
    )
