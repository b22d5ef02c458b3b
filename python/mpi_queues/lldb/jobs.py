"""The processes of a job in lldb: one target each, with the name of its rank."""

from __future__ import annotations

import contextlib
import time
from typing import Any, Callable, Dict, Iterator, List, Optional, Set, Tuple

import lldb

from .. import _native
from ..commands import gates, mpir
from ..commands.job_control import Held, JobControl, Launched
from ..debuggers import base
from ..debuggers.base import DebuggerError
from ..errors import UserError, as_user_error
from ..system import processes
from . import files as lldb_files
from .adapter import ALIVE, STOPPED, LldbProcess, said
from .launch import Launch, breakpoint_at

#: What lldb says of a process that it lets run, which would make equal outputs of ranks differ.
_RESUMING = "Process {pid} resuming\n"

#: How often a process that runs is stopped anew, to let go of it.
_TRIES = 3

#: The kernel's letters of a process of which nothing is left but its entry, if that.
_ENDED = ("", "Z", "X")

_HOW_ON = (
    "To resume all ranks, type: mpi foreach all continue\n"
    "To let the job run on without the debugger, type: mpi detach, or quit"
)


class LldbJobs(JobControl):
    """All targets of one of lldb's debuggers."""

    def __init__(self, number: int) -> None:
        """``number`` is that of lldb's debugger: what keeps one of its objects would keep it from ending."""
        self._number = number
        #: The names that processes were given, by lldb's number of the process and its id.
        self._names: Dict[Tuple[int, int], str] = {}
        #: The processes for which a target was made here, by the same.
        self._made: Set[Tuple[int, int]] = set()
        #: By the id of the launcher's process: the number of the breakpoint, and who is told.
        self._watched: Dict[int, Tuple[int, Callable[[str], None]]] = {}
        #: By the key of a rank: the breakpoint where it has spawned processes, and who is told.
        self._spawning: Dict[Tuple[int, int], Tuple[int, Callable[[], None]]] = {}

    @property
    def _debugger(self) -> Any:
        return lldb.SBDebugger.FindDebuggerWithID(self._number)

    def held(self) -> List[Held]:
        selected = self._debugger.GetSelectedTarget()
        return [self._held(target, selected) for target in self._targets() if _has_process(target)]

    def runs_beside(self, pid: Optional[int]) -> bool:
        """Whether this is a launcher that runs on beside its ranks, which is nobody to ask for message queues."""
        return pid in self._watched and any(one.pid == pid and one.state == "running" for one in self.held())

    def _held(self, target: Any, selected: Any) -> Held:
        process = target.GetProcess()
        pid = int(process.GetProcessID())
        return Held(
            pid=pid,
            label=f"target #{self._debugger.GetIndexOfTarget(target)}",
            name=self._names.get(_key(process)),
            selected=bool(target == selected),
            state=self._state(process),
            launcher=pid in self._watched,
        )

    def _state(self, process: Any) -> str:
        """In the words of ``Held.state``."""
        # lldb does not hear of the end of a process that was killed while it stood. What was attached to here is a
        # process of this machine.
        mine = _key(process) in self._made
        if processes.state(int(process.GetProcessID())) in _ENDED if mine else LldbProcess(process).has_ended():
            return "ended"
        return "stopped" if process.GetState() in STOPPED else "running"

    def _targets(self) -> List[Any]:
        return [self._debugger.GetTargetAtIndex(index) for index in range(int(self._debugger.GetNumTargets()))]

    def _target(self, pid: int) -> Any:
        for target in self._targets():
            if target.GetProcess().GetProcessID() == pid and _has_process(target):
                return target
        raise UserError(f"lldb does not have a process {pid}", help="type: mpi ranks", kind="no_process")

    def attach(self, pid: int, executable: Optional[str], name: str) -> Held:
        if base.wants_interrupt():
            raise KeyboardInterrupt
        try:
            target = self._target(pid)
        except UserError:
            processes.check_readable(pid)
            with self._selection_kept():
                target = self._attached(pid)
            self._made.add(_key(target.GetProcess()))
            # A pid may come again.
            self._watched.pop(pid, None)
        self._names[_key(target.GetProcess())] = name
        self._label(target, name)
        return self._held(target, self._debugger.GetSelectedTarget())

    def _attached(self, pid: int) -> Any:
        # Attaching with lldb's own listener waits for the stop, and what comes later goes to whoever takes its events.
        target, process, error = lldb_files.attach(self._debugger, pid)
        if error.Success() and process.IsValid() and process.GetState() in STOPPED:
            return target
        if process.IsValid() and process.GetState() in ALIVE:
            process.Detach()
        self._debugger.DeleteTarget(target)
        raise UserError(f"pid {pid}: lldb cannot attach to it: {said(error)}", kind="not_attached")

    def _made_for(self, pid: int) -> Any:
        """The target that was made for a process, also where lldb has heard of its end by now; None without one."""
        made = [target for target in self._targets() if _key(target.GetProcess()) in self._made]
        return next((target for target in made if target.GetProcess().GetProcessID() == pid), None)

    def _label(self, target: Any, name: str) -> None:
        """``target select "rank 3"`` then works, and ``target list`` shows it."""
        # SBTarget.SetLabel came with LLDB 16. Labels are unique: one may still be that of a process that has ended.
        if not hasattr(target, "SetLabel"):
            return
        for other in self._targets():
            if other != target and other.GetLabel() == name and not _has_process(other):
                self._forget(other)
        target.SetLabel(name)

    def detach(self, pid: int) -> None:
        target = self._made_for(pid) or self._target(pid)
        process = target.GetProcess()
        watched = self._watched.pop(pid, None)
        if watched is not None:
            target.BreakpointDelete(watched[0])
        spawning = self._spawning.pop(_key(process), None)
        if spawning is not None:
            target.BreakpointDelete(spawning[0])
        error = process.Detach()
        for _ in range(_TRIES):
            if error.Success() or process.GetState() not in (lldb.eStateRunning, lldb.eStateStepping):
                break
            # Seen once in many: the stop that lldb asks for first did not come within its time limit.
            error = process.Detach()
        if error.Fail() and _has_process(target) and self._state(process) != "ended":
            raise UserError(f"pid {pid}: lldb cannot let go of it: {said(error)}", kind="not_detached")
        self._forget(target)

    def _forget(self, target: Any) -> None:
        """A target without a process: its name is free again, and it goes where it was made here."""
        key = _key(target.GetProcess())
        self._names.pop(key, None)
        self._spawning.pop(key, None)
        if key in self._made:
            self._made.remove(key)
            self._debugger.DeleteTarget(target)
        elif hasattr(target, "SetLabel"):
            target.SetLabel("")

    def select(self, pid: int) -> None:
        target = self._target(pid)
        self._debugger.SetSelectedTarget(target)
        process = target.GetProcess()
        if process.GetNumThreads() and process.GetState() in STOPPED:
            process.SetSelectedThread(process.GetThreadAtIndex(0))

    def execute(self, pid: int, command: str) -> str:
        result = lldb.SBCommandReturnObject()
        process = self._target(pid).GetProcess()
        if self._state(process) == "ended":
            raise UserError("the process has ended", help="to be rid of it, type: mpi detach RANK", kind="no_process")
        stop = process.GetStopID()
        with self._in(pid) as target, self._asynchronous(True):
            # Where lldb waited, a command that resumes one rank would wait for what may need the other ranks.
            interpreter = self._debugger.GetCommandInterpreter()
            interpreter.HandleCommand(command, _place_of(target), result, False)
        said_to_resume = _RESUMING.format(pid=pid)
        printed = result.GetOutput() or ""
        if said_to_resume in printed:
            _until_running(process, stop)
            printed = printed.replace(said_to_resume, "resuming\n")
        if not result.Succeeded():
            reason = (result.GetError() or "").strip().removeprefix("error: ")
            raise UserError(reason or f"{command}: lldb does not say why it failed", kind="command")
        return printed + (result.GetError() or "")

    def symbol(self, pid: int, name: str) -> Optional[int]:
        found = LldbProcess(self._target(pid).GetProcess()).symbol(name)
        return found[0] if found is not None else None

    def read(self, pid: int, address: int, length: int) -> bytes:
        try:
            return bytes(LldbProcess(self._target(pid).GetProcess()).read_memory(address, length))
        except DebuggerError as error:
            raise UserError(f"pid {pid}: {error}", kind="memory") from None

    def write(self, pid: int, address: int, content: bytes) -> None:
        error = lldb.SBError()
        process = self._target(pid).GetProcess()
        try:
            with self._halted(process):
                written = process.WriteMemory(address, content, error)
        except (OverflowError, TypeError, ValueError):
            raise UserError(f"pid {pid}: {address:#x} is no address", kind="memory") from None
        if error.Fail() or written != len(content):
            raise UserError(f"pid {pid}: cannot write to {address:#x}: {said(error)}", kind="memory")

    @contextlib.contextmanager
    def _halted(self, process: Any) -> Iterator[None]:
        """lldb writes only to what is stopped: a launcher that runs beside its ranks is so for a moment."""
        if process.GetState() != lldb.eStateRunning:
            yield
            return
        with self._asynchronous(False):
            error = process.Stop()
        if error.Fail():
            raise UserError(f"pid {process.GetProcessID()} cannot be stopped: {said(error)}", kind="memory")
        stop = process.GetStopID()
        try:
            yield
        finally:
            with self._asynchronous(True):
                process.Continue()
            _until_running(process, stop)

    def launch(self, program: str, arguments: str, tell: Callable[[str], None]) -> Launched:
        # What is left of an earlier job.
        for target in self._targets():
            if _key(target.GetProcess()) in self._made and not _has_process(target):
                self._forget(target)
        with self._selection_kept():
            launch = Launch(self._debugger, self)
            launched = launch.run(program, arguments)
        key, name = _key(launch.target.GetProcess()), f"launcher {launch.name}"
        self._made.add(key)
        self._names[key] = name
        self._label(launch.target, name)
        self._watch(launch.target, launch.breakpoint, tell)
        return launched

    def release_launcher(self, pid: int) -> str:
        target = self._target(pid)
        process = target.GetProcess()
        if mpir.has(self, pid, mpir.BREAKPOINT) and not mpir.has(self, pid, "MPIR_i_am_starter"):
            return f"The launcher is a rank itself, and stopped as the others are. {_HOW_ON}"
        if process.GetState() in STOPPED:
            stop = process.GetStopID()
            with self._asynchronous(True):
                error = process.Continue()
            if error.Fail():
                raise UserError(f"the launcher (pid {pid}) cannot go on: {said(error)}", kind="not_resumed")
            _until_running(process, stop)
        return f"The launcher runs on by itself. {_HOW_ON}"

    def watch_launcher(self, pid: int, tell: Callable[[str], None]) -> None:
        target = self._target(pid)
        if pid in self._watched:
            return
        self._watch(target, breakpoint_at(target, gates.BREAKPOINTS), tell)

    def _watch(self, target: Any, breakpoint: Any, tell: Callable[[str], None]) -> None:
        pid = int(target.GetProcess().GetProcessID())
        self._watched[pid] = int(breakpoint.GetID()), tell
        _watching[self._number] = self
        breakpoint.SetScriptCallbackFunction(f"{__name__}.at_mpir_breakpoint")

    def reached(self, pid: int, function: str) -> bool:
        """A launcher calls MPIR_Breakpoint or its like; whether it is to stop there."""
        watched = self._watched.get(pid)
        if watched is None:
            return False
        sentence = gates.event(self, pid, function)
        if sentence is not None:
            watched[1](sentence)
        return sentence is not None

    def watch_spawning(self, pid: int, function: str, reached: Callable[[], None]) -> bool:
        target = self._target(pid)
        if self.symbol(pid, function) is None:
            return False
        key = _key(target.GetProcess())
        before = self._spawning.pop(key, None)
        if before is not None:
            target.BreakpointDelete(before[0])
        breakpoint = breakpoint_at(target, [function])
        if not breakpoint.IsValid() or not breakpoint.GetNumLocations():
            raise UserError(f"lldb finds no place to stop in {function}", kind="breakpoint")
        self._spawning[key] = int(breakpoint.GetID()), reached
        _watching[self._number] = self
        breakpoint.SetScriptCallbackFunction(f"{__name__}.at_spawn_breakpoint")
        return True

    def spawned(self, process: Any) -> None:
        """A rank stands where it has spawned processes."""
        known = self._spawning.get(_key(process))
        if known is None:
            return
        try:
            known[1]()
        except (UserError, _native.NativeError, DebuggerError, KeyboardInterrupt) as error:
            why = "interrupted" if isinstance(error, KeyboardInterrupt) else as_user_error(error)
            out = self._debugger.GetOutputFile()
            out.Write(f"The rank has spawned processes; which cannot be told: {why}\n".encode("utf-8", "replace"))
            out.Flush()

    @contextlib.contextmanager
    def _in(self, pid: int) -> Iterator[Any]:
        target = self._target(pid)
        with self._selection_kept():
            self._debugger.SetSelectedTarget(target)
            yield target

    @contextlib.contextmanager
    def _selection_kept(self) -> Iterator[None]:
        selected = self._debugger.GetSelectedTarget()
        try:
            yield
        finally:
            if selected.IsValid() and any(target == selected for target in self._targets()):
                self._debugger.SetSelectedTarget(selected)

    @contextlib.contextmanager
    def _asynchronous(self, wanted: bool) -> Iterator[None]:
        before = self._debugger.GetAsync()
        self._debugger.SetAsync(wanted)
        try:
            yield
        finally:
            self._debugger.SetAsync(before)


#: By the number of lldb's debugger: who watches its launchers.
_watching: Dict[int, LldbJobs] = {}


def at_mpir_breakpoint(frame: Any, _location: Any, _: Any) -> bool:
    """lldb calls this where a launcher calls MPIR_Breakpoint, on the thread that takes its events."""
    process = frame.GetThread().GetProcess()
    jobs = _watching.get(int(process.GetTarget().GetDebugger().GetID()))
    return jobs is not None and jobs.reached(int(process.GetProcessID()), str(frame.GetFunctionName() or ""))


def at_spawn_breakpoint(frame: Any, _location: Any, _: Any) -> bool:
    """lldb calls this where a rank has spawned processes, on the thread that takes its events. The rank stays there."""
    process = frame.GetThread().GetProcess()
    jobs = _watching.get(int(process.GetTarget().GetDebugger().GetID()))
    if jobs is not None:
        jobs.spawned(process)
    return True


def _has_process(target: Any) -> bool:
    """Whether it has a process, as far as lldb knows, and no core file."""
    process = target.GetProcess()
    if not process.IsValid() or process.GetState() not in ALIVE:
        return False
    plugin = str(process.GetPluginName() or "")
    return not plugin.endswith("-core") and plugin != "minidump"


def _until_running(process: Any, stop: int) -> None:
    """Waits until a process that was resumed at this stop is seen to run, or to have stopped again: lldb tells of it
    once somebody has taken the event. Where nobody does, the wait is short."""
    deadline = time.monotonic() + 1.0
    while process.GetState() in STOPPED and process.GetStopID() == stop and time.monotonic() < deadline:
        time.sleep(0.01)


def _place_of(target: Any) -> Any:
    """Where a command is to be run: within a command, lldb's selection alone would still mean the outer one's."""
    process = target.GetProcess()
    thread = process.GetSelectedThread()
    frame = thread.GetSelectedFrame() if thread.IsValid() else None
    if frame is not None and frame.IsValid():
        return lldb.SBExecutionContext(frame)
    return lldb.SBExecutionContext(thread if thread.IsValid() else process)


def _key(process: Any) -> Tuple[int, int]:
    return int(process.GetUniqueID()), int(process.GetProcessID())
