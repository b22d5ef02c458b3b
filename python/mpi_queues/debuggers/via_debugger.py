"""Reads targets for the command line: the ranks of a job together through one debugger, each other target through one
of its own.

Whatever happens to that debugger - a time limit, Ctrl-C, a crash - a live process is left detached and in the state in
which it was found.
"""

from __future__ import annotations

import os
import threading
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Callable, Dict, List, Sequence

from ..errors import UserError, as_user_error
from ..targets import PidTarget
from .asked import MAX_HEAD, Answer, DebuggedTarget, Request, Told, check_head, content, late, left_as_found
from .conversation import converse
from .launchers import Launcher, launcher
from .together import MAX_TOGETHER, read_together

__all__ = ["Answer", "DebuggedTarget", "Request", "read_all"]

Progress = Callable[[int, int, int], None]


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

    def asked(wanted: Sequence[Any], ask: Callable[..., Any], workers: int) -> List[Any]:
        with ThreadPoolExecutor(max(1, min(workers, len(wanted)))) as pool:
            futures = [pool.submit(ask, debugger, one, request, cancelled, told) for one in wanted]
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
    groups = [ranks[at : at + MAX_TOGETHER] for at in range(0, len(ranks), MAX_TOGETHER)]
    answers: Dict[DebuggedTarget, Answer] = {}
    for part in asked([group for group in groups if len(group) > 1], read_together, len(groups)):
        answers.update((answer.target, answer) for answer in part)
    # What such a debugger did not get to, because it ended or took too long, is read alone.
    rest = [target for target in targets if target not in answers]
    for answer in asked(rest, _read_one, len(os.sched_getaffinity(0))):
        answers[answer.target] = answer
    return [answers[target] for target in targets]


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
    reply = converse(
        debugger,
        content(target, request),
        request.timeout,
        cancelled,
        lambda piece: told.came(len(piece)),
        request.spool,
    )
    if cancelled.is_set():
        raise UserError(f"{target.label}: interrupted", kind="interrupted")
    if reply.answer is None:
        raise late(target, request)
    body = reply.answer
    try:
        check_head(debugger, target, reply, body.readline(MAX_HEAD))
    except BaseException:
        body.close()
        raise
    return Answer(target, lambda: body)
