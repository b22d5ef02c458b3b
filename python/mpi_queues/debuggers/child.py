"""Inside the debugger that the command line starts: opens its targets and hands the answers back through a pipe.

An answer is one line of JSON, ``{"ok": KIND}`` or ``{"error": …, "kind": …, "help": …}``; what was asked for follows.
Where the ranks of a job are asked for together, all are stopped before the first is read, and go on when all have been
read; their answers come one after the other in pieces, between lines of JSON (``debuggers/together.py``).
"""

from __future__ import annotations

import json
import os
import time
from abc import ABC, abstractmethod
from dataclasses import replace
from functools import partial
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Type

from .. import _native
from ..errors import UserError, as_user_error
from ..request import COMMUNICATORS, Live, Question, Request
from .base import DebuggerError
from .debugged import DebuggedMpi
from .recorded import record_answer

Write = Callable[[bytes], None]

#: Seconds for which processes are held that have been read while others of their job are not.
_MAX_HELD = 10.0
#: A process takes at most such a part of the time that is left for all.
_SHARES = 4


class Opener(ABC):
    """Gets hold of a target in one debugger, and lets go of it."""

    #: What the debugger's own functions raise.
    errors: Tuple[Type[BaseException], ...] = ()

    @abstractmethod
    def attach(self, pid: int) -> DebuggedMpi:
        """Stops a live process, beside those that were stopped before.

        Raises:
            UserError: where it cannot.
        """

    @abstractmethod
    def open_core(self, core: str, exe: str) -> DebuggedMpi:
        """Opens a core file.

        Raises:
            UserError: where it cannot.
        """

    @abstractmethod
    def release(self, pid: Optional[int] = None) -> None:
        """Lets go of a process, or of all, as they were found; a second time it does nothing."""


def serve(opener: Opener) -> None:
    """Reads the request, opens the targets, answers, lets go."""
    result = int(os.environ["MPI_QUEUES_RESULT_FD"])
    with os.fdopen(int(os.environ["MPI_QUEUES_REQUEST_FD"]), "rb") as file:
        content = file.read()
    expected: Tuple[Type[BaseException], ...] = (UserError, _native.NativeError, DebuggerError, *opener.errors)
    write = partial(_write_bytes, result)
    try:
        question = Question.from_json(content)
        try:
            if question.together is not None:
                _serve_together(opener, question, question.together, write, expected)
                return
            process = _opened(opener, question)
            try:
                _answer(question, process, opener.release, write)
            except expected as error:
                _head(write, {**_error(error), **_outline(question.request, process, expected)})
        finally:
            opener.release()
    except expected as error:
        _head(write, _error(error))
    finally:
        os.close(result)


def _opened(opener: Opener, question: Question) -> DebuggedMpi:
    if question.core is not None:
        return opener.open_core(question.core.core, question.core.exe)
    assert question.live is not None
    check_images(question.live.pid)
    return opener.attach(question.live.pid)


def _serve_together(
    opener: Opener,
    question: Question,
    ranks: Sequence[Live],
    write: Write,
    expected: Tuple[Type[BaseException], ...],
) -> None:
    """Stops all, then reads one after the other. None goes on before all have been read: it would change memory that
    the others share with it, and take processor time from the reading."""
    held: Dict[int, DebuggedMpi] = {}
    read: List[int] = []
    refused: Dict[int, UserError] = {}
    for rank in ranks:
        _head(write, {"begin": rank.pid})
        try:
            check_images(rank.pid)
        except UserError as error:
            refused[rank.pid] = error
    for rank in ranks:
        pid = rank.pid
        _head(write, {"begin": pid})
        try:
            if pid in refused:
                raise refused[pid]
            held[pid] = opener.attach(pid)
            held[pid].set_identity(rank.identity)
            _head(write, {"stopped": pid, "at": time.time()})
        except expected as error:
            _head(write, {"failed": pid, **_error(error)})

    def piece(content: bytes) -> None:
        _head(write, {"piece": len(content)})
        write(content)

    started, until = time.monotonic(), question.until
    for at, (pid, process) in enumerate(held.items()):
        if time.monotonic() > until:
            # Nobody stands longer. Those that were not reached can be read alone.
            break
        # One that takes long leaves something for the others.
        share = (until - time.monotonic()) / min(_SHARES, len(held) - at)
        mine = replace(question, request=question.request.within(share))
        _head(write, {"begin": pid})
        try:
            _answer(mine, process, lambda: None, piece)
            _head(write, {"done": pid, "at": time.time()})
        except expected as error:
            _head(write, {"failed": pid, **_error(error), **_outline(question.request, process, expected)})
        read.append(pid)
        if time.monotonic() - started > _MAX_HELD:
            # Something takes long: a plug-in, or very many operations.
            for one in read:
                opener.release(one)
            read.clear()


def check_images(pid: int) -> None:
    """Looks at the files that a process names as its libraries, before a debugger opens them.

    Raises:
        UserError: for one that is no regular file.
    """
    for path, what in _native.irregular_images(pid):
        shown = "".join(char if char.isprintable() else "?" for char in path)
        raise UserError(
            f"pid {pid}: it names {shown} as a library of its own, which is {what}: a debugger could wait "
            "there for ever, so none is used",
            help=f"to see which files it has really mapped, type: cat /proc/{pid}/maps",
            kind="irregular",
        )


def _error(error: BaseException) -> Dict[str, Any]:
    shown = as_user_error(error)
    return {"error": shown.args[0], "kind": shown.kind, "help": shown.help}


def _outline(request: Request, process: DebuggedMpi, expected: Tuple[Type[BaseException], ...]) -> Dict[str, Any]:
    """What is known of a process that is before MPI_Init or after MPI_Finalize, beside the error that says so."""
    if request.action != "read":
        return {}
    try:
        outline = process.outline(request)
    except expected:
        # The first error says more.
        return {}
    return {} if outline is None else {"outline": outline.to_json()}


def _answer(question: Question, process: DebuggedMpi, release: Callable[[], None], write: Write) -> None:
    process.set_layouts(question.request.layouts)
    left = min(question.request.timeout, question.until - time.monotonic())
    request = question.request.within(max(0.5, left))
    asked = {"read": process.read, "stacks": process.standing, "handles": process.handles}.get(request.action)
    if asked is not None:
        snapshot = asked(request)
        # The process may go on as soon as it has been read; writing a large answer takes a while.
        release()
        _head(write, {"ok": "snapshot"})
        snapshot.write_json(lambda text: write(text.encode()))
    elif request.action == "compare":
        differences = process.compare(request)
        _head(write, {"ok": "differences"})
        write(json.dumps(differences).encode())
    elif request.action == "layouts":
        # Reading the communicators is what proves that the layouts fit; where they do not, this says what differs.
        process.read(COMMUNICATORS.within(request.timeout))
        info = process.info()
        _head(write, {"ok": "info"})
        write(json.dumps(info).encode())
    else:
        record_answer(process.record, request.full, release, write)


def _head(write: Write, said: Dict[str, Any]) -> None:
    write(json.dumps(said).encode() + b"\n")


def _write_bytes(result: int, content: bytes) -> None:
    data = memoryview(content)
    while data:
        data = data[os.write(result, data) :]
