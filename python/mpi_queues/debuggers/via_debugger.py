"""Reads targets for the command line: the ranks of a job together through one debugger, each other target through one
of its own.

Whatever happens to that debugger - a time limit, Ctrl-C, a crash - a live process is left detached and in the state in
which it was found.
"""

from __future__ import annotations

import os
import threading
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any, Callable, Dict, Iterator, List, Sequence, Tuple

from ..errors import UserError, as_user_error
from ..request import Request
from ..targets import CoreTarget, PidTarget
from . import rights
from .asked import Answer, DebuggedTarget, Progress, Told, check_head, late, left_as_found, not_kept, question
from .conversation import converse
from .invocation import Launcher, launcher
from .kept_answer import KeptFile
from .together import MAX_TOGETHER, read_together

#: In less time no debugger has attached to anything, in seconds.
_LEAST = 1.0


def read_all(
    targets: Sequence[DebuggedTarget],
    request: Request,
    progress: Progress = lambda done, total, received: None,
) -> List[Answer]:
    """Asks all targets, the ranks of a job together, and of the others as many at once as there are processors; the
    answers are in the order of ``targets``.

    ``progress`` is told how many are done, of how many, and how many bytes have come back from all.

    Raises:
        UserError: where the debugger is not installed.
        KeyboardInterrupt: after every debugger has ended.
    """
    debugger = launcher(request.via)
    cancelled = threading.Event()
    told = Told(len(targets))

    def asked(wanted: Sequence[Callable[..., Any]], workers: int) -> List[Any]:
        with ThreadPoolExecutor(max(1, min(workers, len(wanted)))) as pool:
            futures = [pool.submit(ask, request, cancelled, told) for ask in wanted]
            try:
                _await(futures, told, progress)
            except BaseException:
                # Also on Ctrl-C: every debugger detaches before this returns.
                cancelled.set()
                for future in futures:
                    future.cancel()
                raise
        return [future.result() for future in futures]

    ranks = [target for target in targets if isinstance(target, PidTarget) and target.place is not None]
    groups = [partial(_read_group, group, members) for group, members in _groups(debugger, ranks, request)]
    answers: Dict[DebuggedTarget, Answer] = {}
    for part in asked(groups, len(groups)):
        answers.update((answer.target, answer) for answer in part)
    # What such a debugger did not get to, because it ended or took too long, is read alone.
    rest = [partial(_read_one, debugger, target) for target in targets if target not in answers]
    for answer in asked(rest, len(os.sched_getaffinity(0))):
        answers[answer.target] = answer
    return [answers[target] for target in targets]


def _groups(
    debugger: Launcher, ranks: Sequence[PidTarget], request: Request
) -> Iterator[Tuple[rights.Group, List[PidTarget]]]:
    """Which ranks are read by one debugger: those of one user, as many as it takes. One alone is not among them."""
    if len(ranks) < 2:
        return
    for group in rights.for_processes(debugger, [target.pid for target in ranks], request.files):
        pids = set(group.pids)
        members = [target for target in ranks if target.pid in pids]
        for at in range(0, len(members), MAX_TOGETHER):
            if len(members[at : at + MAX_TOGETHER]) > 1:
                yield group, members[at : at + MAX_TOGETHER]


def _read_group(
    group: rights.Group, targets: Sequence[PidTarget], request: Request, cancelled: threading.Event, told: Told
) -> List[Answer]:
    answers = read_together(group.debugger, targets, request, cancelled, told)
    for answer in answers:
        answer.as_root = group.notes.get(answer.target.pid) if isinstance(answer.target, PidTarget) else None
    return answers


def _await(futures: Sequence[Future[Any]], told: Told, progress: Progress) -> None:
    pending = set(futures)
    progress(told.done, told.total, told.received)
    while pending:
        _, pending = wait(pending, timeout=0.5, return_when=FIRST_COMPLETED)
        progress(told.done, told.total, told.received)


def _read_one(
    debugger: Launcher, target: DebuggedTarget, request: Request, cancelled: threading.Event, told: Told
) -> Answer:
    if cancelled.is_set():
        return Answer(target, error=UserError(f"{target.label}: interrupted", kind="interrupted"))
    try:
        with left_as_found(target):
            return _ask(debugger, target, request, cancelled, told)
    except (UserError, OSError) as error:
        return Answer(target, error=as_user_error(error))
    finally:
        told.one_done()


def _ask(
    debugger: Launcher, target: DebuggedTarget, request: Request, cancelled: threading.Event, told: Told
) -> Answer:
    """Runs one debugger."""
    # No process stands longer than the limit, also one that has stood before and was not read then.
    left = request.timeout - (told.stood.get(target.pid, 0.0) if isinstance(target, PidTarget) else 0.0)
    if left < min(_LEAST, request.timeout):
        raise late(target, request)
    asked = question(target, request.within(left))
    if isinstance(target, CoreTarget):
        assert asked.core is not None
        chosen = rights.for_core(debugger, asked.core.core, asked.core.exe, request.files)
    else:
        chosen = rights.for_process(debugger, target.pid, request.files)
    try:
        reply = converse(
            chosen.debugger, asked.to_json(), left, cancelled, lambda piece: told.came(len(piece)), request.spool
        )
    except OSError as error:
        raise not_kept(request.spool, error) from None
    if cancelled.is_set():
        raise UserError(f"{target.label}: interrupted", kind="interrupted")
    if reply.answer is None:
        raise late(target, request)
    try:
        body = KeptFile(reply.answer).answer()
        check_head(debugger, target, reply, body.head)
    except BaseException:
        reply.answer.close()
        raise
    return Answer(target, body, as_root=chosen.note)
