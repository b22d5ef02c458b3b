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
from functools import partial
from typing import Any, Callable, Dict, List, Optional, Tuple, Type

from .. import _native
from ..errors import UserError, as_user_error
from .base import DebuggerError
from .debugged import DebuggedMpi

Write = Callable[[bytes], None]

#: Seconds for which processes are held that have been read while others of their job are not.
_MAX_HELD = 10.0
#: A process takes at most such a part of the time that is left for all.
_SHARES = 4
#: Behind a recorded process stands JSON, and behind that its length in so many bytes.
TRAILER_SIZE = 8


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
        request = json.load(file)
    expected: Tuple[Type[BaseException], ...] = (UserError, _native.NativeError, DebuggerError, *opener.errors)
    write = partial(_write_bytes, result)
    try:
        try:
            if request.get("pids") is not None:
                _serve_together(opener, request, write, expected)
                return
            if request["pid"] is not None:
                check_images(int(request["pid"]))
                process = opener.attach(int(request["pid"]))
            else:
                process = opener.open_core(str(request["core"]), str(request["exe"]))
            try:
                _answer(request, process, opener.release, write)
            except expected as error:
                _head(write, {**_error(error), **_outline(request, process, expected)})
        finally:
            opener.release()
    except expected as error:
        _head(write, _error(error))
    finally:
        os.close(result)


def _serve_together(
    opener: Opener, request: Dict[str, Any], write: Write, expected: Tuple[Type[BaseException], ...]
) -> None:
    """Stops all, then reads one after the other. None goes on before all have been read: it would change memory that
    the others share with it, and take processor time from the reading."""
    held: Dict[int, DebuggedMpi] = {}
    read: List[int] = []
    refused: Dict[int, UserError] = {}
    for pid in map(int, request["pids"]):
        _head(write, {"begin": pid})
        try:
            check_images(pid)
        except UserError as error:
            refused[pid] = error
    for pid, identity in zip(map(int, request["pids"]), request["identities"]):
        _head(write, {"begin": pid})
        try:
            if pid in refused:
                raise refused[pid]
            held[pid] = opener.attach(pid)
            held[pid].set_identity(identity)
            _head(write, {"stopped": pid, "at": time.time()})
        except expected as error:
            _head(write, {"failed": pid, **_error(error)})

    def piece(content: bytes) -> None:
        _head(write, {"piece": len(content)})
        write(content)

    started, until = time.monotonic(), float(request["until"])
    for at, (pid, process) in enumerate(held.items()):
        if time.monotonic() > until:
            # Nobody stands longer. Those that were not reached can be read alone.
            break
        # One that takes long leaves something for the others.
        request["timeout"] = (until - time.monotonic()) / min(_SHARES, len(held) - at)
        _head(write, {"begin": pid})
        try:
            _answer(request, process, lambda: None, piece)
            _head(write, {"done": pid, "at": time.time()})
        except expected as error:
            _head(write, {"failed": pid, **_error(error), **_outline(request, process, expected)})
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


def _outline(
    request: Dict[str, Any], process: DebuggedMpi, expected: Tuple[Type[BaseException], ...]
) -> Dict[str, Any]:
    """What is known of a process that is before MPI_Init or after MPI_Finalize, beside the error that says so."""
    if request["action"] != "read":
        return {}
    try:
        outline = process.outline()
    except expected:
        # The first error says more.
        return {}
    return {} if outline is None else {"outline": outline.to_json()}


def _answer(request: Dict[str, Any], process: DebuggedMpi, release: Callable[[], None], write: Write) -> None:
    action = request["action"]
    plugin = request["plugin"]
    process.set_layouts(request["layouts"])
    left = min(float(request["timeout"]), float(request["until"]) - time.monotonic())
    timeout = max(0.5, left)
    if action == "read":
        kinds = [str(kind) for kind, _ in request["wanted"]]
        snapshot = process.read(
            source=request["source"], plugin=plugin, timeout=timeout, queues=bool(request["queues"]), handles=kinds
        )
        # The process may go on as soon as it has been read; writing a large answer takes a while.
        release()
        _head(write, {"ok": "snapshot"})
        snapshot.write_json(lambda text: write(text.encode()))
    elif action == "handles":
        wanted = [(str(kind), value) for kind, value in request["wanted"]]
        snapshot = process.handles(wanted, source=request["source"], plugin=plugin, timeout=timeout)
        release()
        _head(write, {"ok": "snapshot"})
        snapshot.write_json(lambda text: write(text.encode()))
    elif action == "compare":
        differences = process.compare(plugin=plugin, timeout=timeout)
        _head(write, {"ok": "differences"})
        write(json.dumps(differences).encode())
    elif action == "layouts":
        # Reading the communicators is what proves that the layouts fit; where they do not, this says what differs.
        process.read(source="builtin", plugin=None, timeout=timeout, queues=False)
        info = process.info()
        _head(write, {"ok": "info"})
        write(json.dumps(info).encode())
    elif action == "record":
        _record(bool(request["full"]), process, release, write)
    else:
        raise UserError(f"unknown request {action!r}")


def _record(full: bool, process: DebuggedMpi, release: Callable[[], None], write: Write) -> None:
    """Writes the process as a part of a recording, then JSON that tells how that went, and the length of the JSON."""
    _head(write, {"ok": "recording"})
    written = 0

    def counted(piece: bytes) -> None:
        nonlocal written
        write(piece)
        written += len(piece)

    said: Dict[str, Any] = {}
    try:
        said["problem"] = process.record(counted, full=full)
    except (UserError, _native.NativeError, DebuggerError) as error:
        said.update(_error(error))
    release()
    trailer = json.dumps({**said, "bytes": written}).encode()
    write(trailer + len(trailer).to_bytes(TRAILER_SIZE, "big"))


def _head(write: Write, said: Dict[str, Any]) -> None:
    write(json.dumps(said).encode() + b"\n")


def _write_bytes(result: int, content: bytes) -> None:
    data = memoryview(content)
    while data:
        data = data[os.write(result, data) :]
