"""Inside the gdb that the command line starts: reads one process and hands the answer back through a pipe.

The answer is one line of JSON, ``{"ok": KIND}`` or ``{"error": …, "kind": …, "help": …}``; what was asked for follows.
"""

from __future__ import annotations

import json
import os
from typing import Any, Callable, Dict

import gdb

from .. import _native
from ..errors import UserError, as_user_error
from .base import DebuggerError
from .gdb_sessions import GdbInferior


def serve() -> None:
    """Reads the request, attaches, answers, detaches."""
    result = int(os.environ["MPI_QUEUES_RESULT_FD"])
    with os.fdopen(int(os.environ["MPI_QUEUES_REQUEST_FD"]), "rb") as file:
        request = json.load(file)
    try:
        _attach(int(request["pid"]))
        try:
            _answer(request, result)
        finally:
            _detach()
    except (UserError, _native.NativeError, DebuggerError, gdb.error) as error:
        shown = as_user_error(error)
        _write(result, json.dumps({"error": shown.args[0], "kind": shown.kind, "help": shown.help}) + "\n")
    finally:
        os.close(result)


def _attach(pid: int) -> None:
    try:
        gdb.execute(f"attach {pid}", to_string=True)
    except gdb.error as error:
        raise UserError(f"gdb cannot attach to pid {pid}: {error}", kind="no_permission") from None


def _detach() -> None:
    try:
        gdb.execute("detach", to_string=True)
    except gdb.error:
        # The process ended meanwhile; gdb lets go of all others when it ends.
        return


def _answer(request: Dict[str, Any], result: int) -> None:
    inferior = GdbInferior(gdb.selected_inferior(), [str(entry) for entry in request.get("safe_path", [])])
    action = request["action"]
    plugin = request.get("plugin")
    timeout = float(request["timeout"])
    if action == "read":
        snapshot = inferior.read(
            source=request["source"], plugin=plugin, timeout=timeout, queues=bool(request["queues"])
        )
        # The process may go on as soon as it has been read; writing a large answer takes a while.
        _detach()
        _head(result, "snapshot")
        snapshot.write_json(_writer(result))
    elif action == "compare":
        differences = inferior.compare(plugin=plugin, timeout=timeout)
        _head(result, "differences")
        _write(result, json.dumps(differences))
    elif action == "layouts":
        # Reading the communicators is what proves that the layouts fit; where they do not, this says what differs.
        inferior.read(source="builtin", plugin=None, timeout=timeout, queues=False)
        info = inferior.info()
        _head(result, "info")
        _write(result, json.dumps(info))
    else:
        raise UserError(f"unknown request {action!r}")


def _head(result: int, kind: str) -> None:
    _write(result, json.dumps({"ok": kind}) + "\n")


def _writer(result: int) -> Callable[[str], None]:
    return lambda text: _write(result, text)


def _write(result: int, text: str) -> None:
    data = memoryview(text.encode())
    while data:
        data = data[os.write(result, data) :]
