"""The processes of a job in lldb: one target each, with the name of its rank."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Dict, Iterator, List, Optional, Set, Tuple

import lldb

from ..commands import gates, mpir
from ..commands.job_control import Held, JobControl, Launched
from ..debuggers import base
from ..debuggers.base import DebuggerError
from ..errors import UserError
from ..system import attaching, processes
from .adapter import ALIVE, STOPPED, LldbProcess, said
from .launch import Launch, breakpoint_at
from .targets import attached, has_process, key_of, main_thread_of, until_running
from .watching import Watching

#: What lldb says of a process that it lets run, which would make equal outputs of ranks differ.
_RESUMING = "Process {pid} resuming\n"

#: How often a process that runs is stopped anew, to let go of it.
_TRIES = 3

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
        self._watching = Watching(number, self)

    @property
    def _debugger(self) -> Any:
        return lldb.SBDebugger.FindDebuggerWithID(self._number)

    def held(self) -> List[Held]:
        selected = self._debugger.GetSelectedTarget()
        return [self._held(target, selected) for target in self._targets() if has_process(target)]

    def runs_beside(self, pid: Optional[int]) -> bool:
        """Whether this is a launcher that runs on beside its ranks, which is nobody to ask for message queues."""
        return (
            pid is not None
            and self._watching.has(pid)
            and any(one.pid == pid and one.state == "running" for one in self.held())
        )

    def _held(self, target: Any, selected: Any) -> Held:
        process = target.GetProcess()
        pid = int(process.GetProcessID())
        return Held(
            pid=pid,
            label=f"target #{self._debugger.GetIndexOfTarget(target)}",
            name=self._names.get(key_of(process)),
            selected=bool(target == selected),
            state=self._state(process),
            launcher=self._watching.has(pid),
        )

    def _state(self, process: Any) -> str:
        """In the words of ``Held.state``."""
        # lldb does not hear of the end of a process that was killed while it stood. What was attached to here is a
        # process of this machine.
        mine = key_of(process) in self._made
        if processes.has_ended(int(process.GetProcessID())) if mine else LldbProcess(process).has_ended():
            return "ended"
        return "stopped" if process.GetState() in STOPPED else "running"

    def _targets(self) -> List[Any]:
        return [self._debugger.GetTargetAtIndex(index) for index in range(int(self._debugger.GetNumTargets()))]

    def _target(self, pid: int) -> Any:
        for target in self._targets():
            if target.GetProcess().GetProcessID() == pid and has_process(target):
                return target
        raise UserError(f"lldb has no process {pid}", help="type: mpi ranks", kind="no_process")

    def interrupted(self) -> bool:
        return base.wants_interrupt()

    def attach(self, pid: int, executable: Optional[str], name: str) -> Held:
        try:
            target = self._target(pid)
        except UserError:
            attaching.check_readable(pid)
            with self._selection_kept():
                target = self._attached(pid)
            self._made.add(key_of(target.GetProcess()))
            # A pid may come again.
            self._watching.forget_launcher(pid)
        self._names[key_of(target.GetProcess())] = name
        self._label(target, name)
        return self._held(target, self._debugger.GetSelectedTarget())

    def _attached(self, pid: int) -> Any:
        # Attaching with lldb's own listener waits for the stop, and what comes later goes to whoever takes its events.
        target, process, error = attached(self._debugger, pid)
        if error.Success() and process.IsValid() and process.GetState() in STOPPED:
            return target
        if process.IsValid() and process.GetState() in ALIVE:
            process.Detach()
        self._debugger.DeleteTarget(target)
        raise UserError(f"pid {pid}: lldb cannot attach to it: {said(error)}", kind="not_attached")

    def _made_for(self, pid: int) -> Any:
        """The target that was made for a process, also where lldb has heard of its end by now; None without one."""
        made = [target for target in self._targets() if key_of(target.GetProcess()) in self._made]
        return next((target for target in made if target.GetProcess().GetProcessID() == pid), None)

    def _label(self, target: Any, name: str) -> None:
        """``target select "rank 3"`` then works, and ``target list`` shows it."""
        # SBTarget.SetLabel came with LLDB 16. Labels are unique: one may still be that of a process that has ended.
        if not hasattr(target, "SetLabel"):
            return
        for other in self._targets():
            if other != target and other.GetLabel() == name and not has_process(other):
                self._forget(other)
        target.SetLabel(name)

    def detach(self, pid: int) -> None:
        target = self._made_for(pid) or self._target(pid)
        process = target.GetProcess()
        self._watching.end(target, pid)
        error = process.Detach()
        for _ in range(_TRIES):
            if error.Success() or process.GetState() not in (lldb.eStateRunning, lldb.eStateStepping):
                break
            # Seen once in many: the stop that lldb asks for first did not come within its time limit.
            error = process.Detach()
        if error.Fail() and has_process(target) and self._state(process) != "ended":
            raise UserError(f"pid {pid}: lldb cannot detach from it: {said(error)}", kind="not_detached")
        self._forget(target)

    def _forget(self, target: Any) -> None:
        """A target without a process: its name is free again, and it goes where it was made here."""
        key = key_of(target.GetProcess())
        self._names.pop(key, None)
        self._watching.forget_rank(key)
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
            raise UserError("the process has ended", help="to remove it, type: mpi detach RANK", kind="no_process")
        stop = process.GetStopID()
        with self._in(pid) as target, self._asynchronous(True):
            # Where lldb waited, a command that resumes one rank would wait for what may need the other ranks.
            interpreter = self._debugger.GetCommandInterpreter()
            interpreter.HandleCommand(command, main_thread_of(target), result, False)
        said_to_resume = _RESUMING.format(pid=pid)
        printed = result.GetOutput() or ""
        if said_to_resume in printed:
            until_running(process, stop)
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
            raise UserError(f"pid {pid}: {address:#x} is not an address", kind="memory") from None
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
            until_running(process, stop)

    def launch(self, program: str, arguments: str, tell: Callable[[str], None]) -> Launched:
        # What is left of an earlier job.
        for target in self._targets():
            if key_of(target.GetProcess()) in self._made and not has_process(target):
                self._forget(target)
        with self._selection_kept():
            launch = Launch(self._debugger, self)
            launched = launch.run(program, arguments)
        key, name = key_of(launch.target.GetProcess()), f"launcher {launch.name}"
        self._made.add(key)
        self._names[key] = name
        self._label(launch.target, name)
        self._watching.launcher(launch.target, launch.breakpoint, tell)
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
            until_running(process, stop)
        return f"The launcher runs on by itself. {_HOW_ON}"

    def watch_launcher(self, pid: int, tell: Callable[[str], None]) -> None:
        target = self._target(pid)
        if not self._watching.has(pid):
            self._watching.launcher(target, breakpoint_at(target, gates.BREAKPOINTS), tell)

    def watch_spawning(self, pid: int, function: str, reached: Callable[[], None]) -> bool:
        target = self._target(pid)
        if self.symbol(pid, function) is None:
            return False
        self._watching.rank(target, function, reached)
        return True

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
