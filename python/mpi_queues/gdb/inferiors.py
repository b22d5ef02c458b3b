"""The inferiors of gdb that have a live process."""

from __future__ import annotations

import re
from typing import Any, Dict, Optional

import gdb

from ..system import processes
from . import text as gdb_text

#: A line of `info connections` (gdb/inferior.c: info_connections_command): number and kind.
_CONNECTION = re.compile(r"^[* ] *(\d+) +(\S+)", re.MULTILINE)

#: By their numbers, which gdb gives once.
_kinds: Dict[int, str] = {}


def connection_of(inferior: Any) -> int:
    """The number of gdb's connection that an inferior is on; 0 where it has none, or gdb is older than 10."""
    return int(getattr(inferior, "connection_num", None) or 0)


def connection_kind(inferior: Any) -> Optional[str]:
    """``native``, ``core``, ``remote`` and so on; None where an inferior has no connection.

    Inferior.connection would tell it, but gdb 13 aborts where such an object is left when it quits (py-connection.c:
    connpy_connection_dealloc).
    """
    number = connection_of(inferior)
    if number and number not in _kinds:
        _kinds.update((int(one), kind) for one, kind in _CONNECTION.findall(gdb_text.execute("info connections")))
    return _kinds.get(number)


def having(pid: int) -> Any:
    """The inferior that has a live process, None where none has it."""
    return next((inferior for inferior in gdb.inferiors() if inferior.pid == pid and not is_core(inferior)), None)


def state_of(inferior: Any) -> str:
    """In the words of ``Held.state``."""
    if processes.has_ended(int(inferior.pid)):
        # gdb has it until it next waits for it.
        return "ended"
    threads = inferior.threads()
    return "running" if threads and all(thread.is_running() for thread in threads) else "stopped"


def is_core(inferior: Any) -> bool:
    """Whether it shows a core file."""
    return connection_kind(inferior) == "core"
