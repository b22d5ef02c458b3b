"""lldb's settings: the user's own, and given back as they were."""

from __future__ import annotations

import contextlib
from typing import Any, Dict, Iterator, List

import lldb

#: For how long lldb waits for an answer of its own lldb-server: 5 seconds by itself. On a busy node that is too short,
#: and lldb says that it has lost the connection, or reads half of a process.
_PATIENCE = "plugin.process.gdb-remote.packet-timeout"
_SECONDS = 120


@contextlib.contextmanager
def changed(debugger: Any, values: Dict[str, str]) -> Iterator[None]:
    """In its block, settings are these."""
    instance = debugger.GetInstanceName()
    before = {name: _values(name, instance) for name in values}
    for name, value in values.items():
        lldb.SBDebugger.SetInternalVariable(name, value, instance)
    try:
        yield
    finally:
        for name, old in before.items():
            if old:
                lldb.SBDebugger.SetInternalVariable(name, old[0], instance)


def patient(debugger: Any) -> contextlib.AbstractContextManager[None]:
    """In its block, lldb waits for a busy node, at least as long as the user wants it to. A process keeps what the
    setting is when it is attached to."""
    before = "".join(_values(_PATIENCE, debugger.GetInstanceName())[:1])
    seconds = max(_SECONDS, int(before)) if before.isdecimal() else _SECONDS
    return changed(debugger, {_PATIENCE: str(seconds)})


def _values(name: str, instance: str) -> List[str]:
    found = lldb.SBDebugger.GetInternalVariableValue(name, instance)
    return [str(found.GetStringAtIndex(index) or "") for index in range(found.GetSize())]
