"""Where launchers and ranks stop to tell something: at MPIR_Breakpoint and its like, where processes are spawned."""

from __future__ import annotations

from typing import Any, Callable, Dict, Tuple

import lldb

from .. import _native
from ..commands import gates
from ..commands.job_control import JobControl
from ..debuggers.base import DebuggerError
from ..errors import UserError, as_user_error
from .launch import breakpoint_at
from .targets import key_of


class Watching:
    """The breakpoints in the launchers and ranks of one of lldb's debuggers."""

    def __init__(self, number: int, jobs: JobControl) -> None:
        """``number`` is that of lldb's debugger."""
        self._number = number
        self._jobs = jobs
        #: By the id of the launcher's process: the number of the breakpoint, and who is told.
        self._launchers: Dict[int, Tuple[int, Callable[[str], None]]] = {}
        #: By the key of a rank: the breakpoint where it has spawned processes, and who is told.
        self._ranks: Dict[Tuple[int, int], Tuple[int, Callable[[], None]]] = {}

    def has(self, pid: int) -> bool:
        """Whether this is a launcher that is watched."""
        return pid in self._launchers

    def launcher(self, target: Any, breakpoint: Any, tell: Callable[[str], None]) -> None:
        """A launcher tells what happens in it where it stops at a breakpoint."""
        pid = int(target.GetProcess().GetProcessID())
        self._launchers[pid] = int(breakpoint.GetID()), tell
        _watching[self._number] = self
        breakpoint.SetScriptCallbackFunction(f"{__name__}.at_mpir_breakpoint")

    def rank(self, target: Any, function: str, reached: Callable[[], None]) -> None:
        """A rank stops in a function, where it has spawned processes.

        Raises:
            UserError: where it cannot.
        """
        key = key_of(target.GetProcess())
        before = self._ranks.pop(key, None)
        if before is not None:
            target.BreakpointDelete(before[0])
        breakpoint = breakpoint_at(target, [function])
        if not breakpoint.IsValid() or not breakpoint.GetNumLocations():
            raise UserError(f"lldb cannot set a breakpoint in {function}", kind="breakpoint")
        self._ranks[key] = int(breakpoint.GetID()), reached
        _watching[self._number] = self
        breakpoint.SetScriptCallbackFunction(f"{__name__}.at_spawn_breakpoint")

    def end(self, target: Any, pid: int) -> None:
        """Takes away what a process has of these."""
        for known in (self._launchers.pop(pid, None), self._ranks.pop(key_of(target.GetProcess()), None)):
            if known is not None:
                target.BreakpointDelete(known[0])

    def forget_launcher(self, pid: int) -> None:
        """Its process has ended."""
        self._launchers.pop(pid, None)

    def forget_rank(self, key: Tuple[int, int]) -> None:
        """Its process has ended."""
        self._ranks.pop(key, None)

    def reached(self, pid: int, function: str) -> bool:
        """A launcher calls MPIR_Breakpoint or its like; whether it is to stop there."""
        watched = self._launchers.get(pid)
        if watched is None:
            return False
        sentence = gates.event(self._jobs, pid, function)
        if sentence is not None:
            watched[1](sentence)
        return sentence is not None

    def spawned(self, process: Any) -> None:
        """A rank stands where it has spawned processes."""
        known = self._ranks.get(key_of(process))
        if known is None:
            return
        try:
            known[1]()
        except (UserError, _native.NativeError, DebuggerError, KeyboardInterrupt) as error:
            why = "interrupted" if isinstance(error, KeyboardInterrupt) else as_user_error(error)
            out = lldb.SBDebugger.FindDebuggerWithID(self._number).GetOutputFile()
            out.Write(f"The rank has spawned processes; which ones is not known: {why}\n".encode("utf-8", "replace"))
            out.Flush()


#: By the number of lldb's debugger: who watches its launchers and ranks.
_watching: Dict[int, Watching] = {}


def at_mpir_breakpoint(frame: Any, _location: Any, _: Any) -> bool:
    """lldb calls this where a launcher calls MPIR_Breakpoint, on the thread that takes its events."""
    process = frame.GetThread().GetProcess()
    watching = _watching.get(int(process.GetTarget().GetDebugger().GetID()))
    return watching is not None and watching.reached(int(process.GetProcessID()), str(frame.GetFunctionName() or ""))


def at_spawn_breakpoint(frame: Any, _location: Any, _: Any) -> bool:
    """lldb calls this where a rank has spawned processes, on the thread that takes its events. The rank stays there."""
    process = frame.GetThread().GetProcess()
    watching = _watching.get(int(process.GetTarget().GetDebugger().GetID()))
    if watching is not None:
        watching.spawned(process)
    return True
