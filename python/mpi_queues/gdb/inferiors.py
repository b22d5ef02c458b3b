"""The inferiors of gdb that have a live process."""

from __future__ import annotations

from typing import Any

import gdb

from ..system import processes


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
    connection = getattr(inferior, "connection", None)
    return connection is not None and str(connection.type) == "core"
