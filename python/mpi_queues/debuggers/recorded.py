"""The answer that is a recorded process: a line that says so, the process, and behind it how that went."""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, Optional, Protocol

from .. import _native
from ..errors import UserError, as_user_error
from .base import DebuggerError

#: Bytes of the length at the end.
TRAILER_SIZE = 8

Write = Callable[[bytes], Any]


class Record(Protocol):
    """As :meth:`Session.record`."""

    def __call__(self, write: Write, *, full: bool = False) -> Optional[str]: ...


def record_answer(record: Record, full: bool, release: Callable[[], None], write: Write) -> None:
    """Writes the process as a part of a recording, then JSON that tells how that went, and the length of the JSON."""
    write(json.dumps({"ok": "recording"}).encode() + b"\n")
    written = 0

    def counted(piece: bytes) -> None:
        nonlocal written
        write(piece)
        written += len(piece)

    said: Dict[str, Any] = {}
    try:
        said["problem"] = record(counted, full=full)
    except (UserError, _native.NativeError, DebuggerError) as error:
        shown = as_user_error(error)
        said.update({"error": shown.args[0], "kind": shown.kind, "help": shown.help})
    release()
    trailer = json.dumps({**said, "bytes": written}).encode()
    write(trailer + len(trailer).to_bytes(TRAILER_SIZE, "big"))
