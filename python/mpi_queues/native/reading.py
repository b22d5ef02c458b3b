"""Reads targets without a debugger: live processes, which are stopped together, and core files.

The kernel lets a process go on whose tracer has ended: whatever happens to us, it is left as it was found.
"""

from __future__ import annotations

import contextlib
import math
import tempfile
import threading
import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from .. import _native
from ..errors import UserError, as_user_error
from ..request import COMMUNICATORS, Request
from ..system import advice, attaching, files, processes
from ..targets import CoreTarget, PidTarget
from . import worker
from .answers import (
    NOT_KEPT,
    Answer,
    Progress,
    ReadTarget,
    RecordedProcess,
    Unreadable,
    ended,
    is_gone,
    late,
    not_kept,
)

#: All threads stand within so many seconds, or something holds one of them in the kernel.
_STOP_LIMIT = 5.0
#: No one of several processes takes a larger part of the time: its budgets end before (``crates/target``, ``budget.rs``
#: and ``file_budget.rs``). What takes longer stands.
_SHARE_OF_ONE = 0.5


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
                try:
                    attaching.check_readable(target.pid)
                except UserError as error:
                    self.answers[target] = Answer(target, error=_with_the_rest(target, error))
                else:
                    ready.append(target)
        # A plug-in has the whole time for each process.
        asker.part(request.timeout * (1 + len(ready) if _asks_a_plugin(request) else 1))
        for target, result in _Group(ready, request, begin).read() if ready else ():
            self.answers[target] = result
            tell()
        for target in self.targets:
            if isinstance(target, CoreTarget) and target not in self.answers:
                asker.part(request.timeout * (2 if _asks_a_plugin(request) else 1))
                self.answers[target] = _read_core(target, request)
                tell()


def _asks_a_plugin(request: Request) -> bool:
    return request.source == "plugin" or request.action == "compare"


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


class _Group:
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
            self._tell_times(answer, released)
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
        for answer in answers:
            self._tell_times(answer, released)

    def _answer(self, target: PidTarget, session: Callable[[int], _native.Session]) -> Answer:
        self._begin(target)
        return _answer(target, self._request, partial(session, target.pid))

    def _tell_times(self, answer: Answer, released: float) -> None:
        """Of the ranks of a job: when they were stopped, and when they went on."""
        target = answer.target
        if isinstance(target, PidTarget) and target.place is not None and answer.error is None:
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
        asked = self._request.standing if self._request.action == "stacks" else self._request.read
        for target, session in sessions:
            self._begin(target)
            with contextlib.suppress(_native.NativeError):
                asked(session)
        self._begin(None)


def _refusal(target: PidTarget, kind: str, text: str) -> UserError:
    if kind == "gone" or is_gone(target):
        return ended(target)
    if kind == "no_permission":
        try:
            attaching.check_readable(target.pid)
        except UserError as error:
            return _with_the_rest(target, error)
        return _with_the_rest(target, UserError(f"{target.label}: {text}", help=advice.more_rights(), kind=kind))
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
        f"{error.args[0]}; all that is known of it without that: {known}", help=error.help, kind=error.kind
    )


def _read_core(target: CoreTarget, request: Request) -> Answer:
    deadline = time.monotonic() + request.timeout
    _native.begin_look(deadline)

    def session() -> _native.Session:
        core = _native.CoreFile(target.core)
        owner = core.owner
        reader = files.reader_of_user(owner) if owner is not None else None
        return _native.core_session(core, target.exe, layouts=request.layouts, deadline=deadline, reader=reader)

    return _answer(target, request, session)


def _answer(target: ReadTarget, request: Request, opened: Callable[[], _native.Session]) -> Answer:
    session: Optional[_native.Session] = None
    try:
        session = opened()
        if isinstance(target, PidTarget) and target.place is not None:
            session.set_identity(target.place.universe_rank)
        return _asked(target, request, session)
    except (UserError, _native.NativeError, OSError) as error:
        return Answer(target, error=_said(target, request, error, session))


def _asked(target: ReadTarget, request: Request, session: _native.Session) -> Answer:
    asked = {"read": request.read, "stacks": request.standing, "handles": request.handles}.get(request.action)
    if asked is not None:
        return Answer(target, snapshot=asked(session))
    if request.action == "compare":
        return Answer(target, facts=request.compare(session))
    if request.action == "layouts":
        # Reading the communicators is what proves that the layouts fit; where they do not, this says what differs.
        COMMUNICATORS.read(session)
        return Answer(target, facts=session.info())
    return Answer(target, recorded=_recorded(request, session))


def _recorded(request: Request, session: _native.Session) -> RecordedProcess:
    try:
        file = tempfile.TemporaryFile(dir=request.spool)  # noqa: SIM115 (the process is read from it later)
    except OSError as error:
        raise not_kept(request.spool, error) from None
    try:
        problem = session.record(file.write, full=request.full)
        file.flush()
    except BaseException as error:
        # What a full disk does not take any more is not wanted any more.
        with contextlib.suppress(OSError):
            file.close()
        if isinstance(error, OSError):
            raise not_kept(request.spool, error) from None
        raise
    return RecordedProcess(file, problem)


def _said(target: ReadTarget, request: Request, error: Exception, session: Optional[_native.Session]) -> UserError:
    """Why nothing was read of a target; with what is known of it all the same."""
    shown = as_user_error(error)
    if is_gone(target):
        return ended(target)
    if shown.kind == "timeout":
        return late(target, request.timeout)
    outline = None
    if session is not None and request.action == "read":
        with contextlib.suppress(_native.NativeError):
            found = request.outline(session)
            outline = None if found is None else found.to_json()
    if shown.kind == NOT_KEPT:
        return shown
    text = str(shown.args[0])
    named = text if target.label in text else f"{target.label}: {text}"
    return Unreadable(named, help=shown.help, kind=shown.kind, outline=outline)
