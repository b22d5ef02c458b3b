"""lldb's threads."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence

import lldb

from ..debuggers.base import ThreadRegisters


def threads(process: Any, names: Sequence[str]) -> List[ThreadRegisters]:
    """The threads of a process, by their numbers, with these registers as far as lldb has them."""
    found = []
    for thread in sorted(process, key=lambda thread: int(thread.GetIndexID())):
        frame = thread.GetFrameAtIndex(0)
        held = {name: _register(frame, name) for name in names}
        known = {name: value for name, value in held.items() if value is not None}
        found.append(ThreadRegisters(int(thread.GetIndexID()), int(thread.GetThreadID()), known))
    return found


def machine(target: Any) -> Optional[str]:
    """As uname calls it; None of one whose registers are not asked for by name."""
    name = str(target.GetTriple() or "").split("-", 1)[0]
    return name if name in ("x86_64", "aarch64") else None


def _register(frame: Any, name: str) -> Optional[int]:
    found = frame.FindRegister(name)
    error = lldb.SBError()
    value = found.GetValueAsUnsigned(error) if found.IsValid() else 0
    return int(value) if found.IsValid() and error.Success() else None
