"""Reads the processes of a job through one debugger: it stops all, reads each, and lets all go on.

So what the queues of different ranks say is of the same time, but for the moments between the first stop and the last;
and what the processes have in common, such as symbols, is read once. Between lines of JSON (``begin``, ``stopped``,
``failed``, ``done``, each with a process id) the answers come in pieces of a stated length (``piece``).
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ..errors import UserError
from ..request import Request
from ..system import processes
from ..targets import PidTarget
from .asked import Answer, Told, died, late, left_as_found, not_kept, question_together, said_error
from .conversation import Progress, Reply, converse
from .invocation import Launcher
from .kept_answer import MAX_HEAD, KeptFile

#: Processes of one debugger. More are read by several, of which each stops its own first.
MAX_TOGETHER = 512
#: Bytes that are announced at once.
_MAX_PIECE = 1 << 40
#: A second after these is none of the clock (year 9999).
_MAX_TIME = 253402300800


#: The part of the time limit after which a debugger that is done with no further process is ended: what is left is for
#: those that it did not get to.
_STALLED = 0.5


class _Broken(Exception):
    """The debugger did not end by itself."""


def read_together(
    debugger: Launcher, targets: Sequence[PidTarget], request: Request, cancelled: threading.Event, told: Told
) -> List[Answer]:
    """What came back for the processes with which the debugger was done, and why the others of these gave nothing.
    Processes that are not in the answer were not dealt with, and can be read alone."""
    answers: List[Answer] = []
    pieces = _Pieces(told, [target.pid for target in targets])
    reply: Optional[Reply] = None
    ready: List[PidTarget] = []
    with contextlib.suppress(_Broken), contextlib.ExitStack() as stack:
        for target in targets:
            if processes.state(target.pid) == "D":
                # It does not stop before its device has answered, and all others would wait for it.
                continue
            try:
                stack.enter_context(left_as_found(target))
                ready.append(target)
            except UserError as error:
                answers.append(Answer(target, error=error))
                told.one_done()
        if not ready or cancelled.is_set():
            return answers
        try:
            reply = converse(
                debugger,
                question_together(ready, request).to_json(),
                request.timeout,
                cancelled,
                pieces.came,
                request.spool,
                progress=Progress(pieces.mark, request.timeout * _STALLED),
            )
        except OSError as error:
            return answers + [Answer(target, error=not_kept(request.spool, error)) for target in ready]
        finally:
            pieces.count_stood()
        if not reply.whole or reply.status:
            raise _Broken
    if reply is None or reply.answer is None:
        return answers
    kept = KeptFile(reply.answer)
    answers += [one for target in ready if (one := _answer(debugger, target, request, reply, pieces, kept)) is not None]
    kept.close_unused()
    return answers


def _answer(
    debugger: Launcher, target: PidTarget, request: Request, reply: Reply, pieces: _Pieces, kept: KeptFile
) -> Optional[Answer]:
    failure = pieces.failed.get(target.pid)
    if failure is not None:
        return Answer(target, error=said_error(target, failure))
    if target.pid in pieces.done:
        try:
            body = kept.answer(pieces.places[target.pid])
        except UserError as error:
            return Answer(target, error=error)
        return Answer(
            target,
            body,
            stopped=pieces.stopped.get(target.pid),
            released=pieces.done[target.pid],
        )
    if target.pid != pieces.begun:
        return None
    # The one that it was at when it ended, or took too long.
    pieces.told.one_done()
    return Answer(target, error=died(debugger, target, reply) if reply.whole else late(target, request))


class _Pieces:
    """What has come so far: where in the answer each process's part is.

    A debugger with the rights of the processes' user is in that user's hands: what is no line of ours is passed over.
    """

    def __init__(self, told: Told, pids: Sequence[int]) -> None:
        self.told = told
        self._pids = frozenset(pids)
        self.places: Dict[int, List[Tuple[int, int]]] = {}
        self.failed: Dict[int, Dict[str, Any]] = {}
        #: When each had been read, in seconds since 1970.
        self.done: Dict[int, float] = {}
        #: When each was stopped, in seconds since 1970.
        self.stopped: Dict[int, float] = {}
        #: The process that the debugger is at.
        self.begun: Optional[int] = None
        self._at = 0
        self._left = 0
        self._line = b""

    def mark(self) -> Tuple[int, int, int]:
        """Another one whenever something is done."""
        return len(self.stopped), len(self.done), len(self.failed)

    def count_stood(self) -> None:
        """Adds for how long those stood that were not read."""
        now = time.time()
        for pid, at in self.stopped.items():
            if pid not in self.done:
                self.told.stood[pid] = self.told.stood.get(pid, 0.0) + max(0.0, now - at)

    def came(self, piece: bytes) -> None:
        """Takes what has come, and notes where it is."""
        self.told.came(len(piece))
        view = piece
        while view:
            if self._left:
                taken = min(self._left, len(view))
                self._left -= taken
                self._at += taken
                view = view[taken:]
                continue
            line, newline, rest = view.partition(b"\n")
            self._line += line[: MAX_HEAD - len(self._line)]
            self._at += len(line) + len(newline)
            view = rest
            if newline:
                self._said(self._line)
                self._line = b""

    def _said(self, line: bytes) -> None:
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            return
        if not isinstance(said, dict):
            return
        length = said.get("piece")
        if type(length) is int and 0 < length < _MAX_PIECE:
            self._left = length
            if self.begun is not None:
                self.places.setdefault(self.begun, []).append((self._at, self._left))
            return
        what, pid = next(
            ((what, said[what]) for what in ("begin", "stopped", "failed", "done") if what in said), ("", 0)
        )
        told = said.get("at")
        at = float(told) if isinstance(told, (int, float)) and 0 <= told < _MAX_TIME else None
        if type(pid) is not int or pid not in self._pids or pid in self.done or pid in self.failed:
            return
        if what == "begin":
            self.begun = pid
        elif what == "stopped" and at is not None:
            self.stopped[pid] = at
            self.begun = None
        elif what == "failed" and isinstance(said.get("error"), str):
            self.failed[pid] = said
            self.begun = None
            self.told.one_done()
        elif what == "done" and at is not None and pid in self.places:
            self.done[pid] = at
            self.begun = None
            self.told.one_done()
