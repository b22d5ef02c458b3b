"""Inside the debugger that the command line starts: opens one target and hands the answer back through a pipe.

The answer is one line of JSON, ``{"ok": KIND}`` or ``{"error": …, "kind": …, "help": …}``; what was asked for follows.
"""

from __future__ import annotations

import json
import os
import time
from abc import ABC, abstractmethod
from typing import Any, Callable, Dict, Tuple, Type

from .. import _native
from ..commands.context import DebuggedMpi
from ..errors import UserError, as_user_error
from .base import DebuggerError

#: Behind a recorded process stands JSON, and behind that its length in so many bytes.
TRAILER_SIZE = 8


class Opener(ABC):
    """Gets hold of a target in one debugger, and lets go of it."""

    #: What the debugger's own functions raise.
    errors: Tuple[Type[BaseException], ...] = ()

    @abstractmethod
    def attach(self, pid: int) -> DebuggedMpi:
        """Stops a live process.

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
    def release(self) -> None:
        """Lets go of it, as it was found; a second time it does nothing."""


def serve(opener: Opener) -> None:
    """Reads the request, opens the target, answers, lets go."""
    result = int(os.environ["MPI_QUEUES_RESULT_FD"])
    with os.fdopen(int(os.environ["MPI_QUEUES_REQUEST_FD"]), "rb") as file:
        request = json.load(file)
    expected: Tuple[Type[BaseException], ...] = (UserError, _native.NativeError, DebuggerError, *opener.errors)
    try:
        try:
            if request["pid"] is not None:
                process = opener.attach(int(request["pid"]))
            else:
                process = opener.open_core(str(request["core"]), str(request["exe"]))
            _answer(request, process, opener.release, result)
        finally:
            opener.release()
    except expected as error:
        shown = as_user_error(error)
        _write(result, json.dumps({"error": shown.args[0], "kind": shown.kind, "help": shown.help}) + "\n")
    finally:
        os.close(result)


def _answer(request: Dict[str, Any], process: DebuggedMpi, release: Callable[[], None], result: int) -> None:
    action = request["action"]
    plugin = request["plugin"]
    process.set_layouts(request["layouts"])
    timeout = max(0.5, min(float(request["timeout"]), float(request["until"]) - time.monotonic()))
    if action == "read":
        kinds = [str(kind) for kind, _ in request["wanted"]]
        snapshot = process.read(
            source=request["source"], plugin=plugin, timeout=timeout, queues=bool(request["queues"]), handles=kinds
        )
        # The process may go on as soon as it has been read; writing a large answer takes a while.
        release()
        _head(result, "snapshot")
        snapshot.write_json(lambda text: _write(result, text))
    elif action == "handles":
        wanted = [(str(kind), value) for kind, value in request["wanted"]]
        snapshot = process.handles(wanted, source=request["source"], plugin=plugin, timeout=timeout)
        release()
        _head(result, "snapshot")
        snapshot.write_json(lambda text: _write(result, text))
    elif action == "compare":
        differences = process.compare(plugin=plugin, timeout=timeout)
        _head(result, "differences")
        _write(result, json.dumps(differences))
    elif action == "layouts":
        # Reading the communicators is what proves that the layouts fit; where they do not, this says what differs.
        process.read(source="builtin", plugin=None, timeout=timeout, queues=False)
        info = process.info()
        _head(result, "info")
        _write(result, json.dumps(info))
    elif action == "record":
        _record(bool(request["full"]), process, release, result)
    else:
        raise UserError(f"unknown request {action!r}")


def _record(full: bool, process: DebuggedMpi, release: Callable[[], None], result: int) -> None:
    """Writes the process as a part of a recording, then JSON that tells how that went, and the length of the JSON."""
    _head(result, "recording")
    written = 0

    def write(piece: bytes) -> None:
        nonlocal written
        _write_bytes(result, piece)
        written += len(piece)

    said: Dict[str, Any] = {}
    try:
        said["problem"] = process.record(write, full=full)
    except (UserError, _native.NativeError, DebuggerError) as error:
        shown = as_user_error(error)
        said.update({"error": shown.args[0], "kind": shown.kind, "help": shown.help})
    release()
    trailer = json.dumps({**said, "bytes": written}).encode()
    _write_bytes(result, trailer + len(trailer).to_bytes(TRAILER_SIZE, "big"))


def _head(result: int, kind: str) -> None:
    _write(result, json.dumps({"ok": kind}) + "\n")


def _write(result: int, text: str) -> None:
    _write_bytes(result, text.encode())


def _write_bytes(result: int, content: bytes) -> None:
    data = memoryview(content)
    while data:
        data = data[os.write(result, data) :]
