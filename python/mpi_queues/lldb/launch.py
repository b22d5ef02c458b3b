"""A launcher under lldb by the MPIR protocol: started, and run until its ranks are there."""

from __future__ import annotations

import contextlib
import os
import shlex
import threading
from typing import Any, Dict, Iterator, List, Optional, Sequence

import lldb

from ..commands import gates, mpir
from ..commands.job_control import JobControl, Launched
from ..debuggers import base
from ..debuggers.waiting_program import WaitingProgram
from ..errors import UserError
from ..launchers.appearing import Appearing
from . import settings
from .adapter import ALIVE, STOPPED, said

#: lldb's settings that decide where a launcher stops and which of its processes lldb follows.
_SETTINGS = {"target.process.stop-on-exec": "true", "target.process.follow-fork-mode": "parent"}
#: Signals of a launcher's own crash. It lives by the others: children end, terminals go, users end jobs with them.
_FATAL = ("SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT", "SIGSYS", "SIGTRAP", "SIGSTOP")
#: How often it is asked whether the user has interrupted, in seconds.
_ASKED = 0.1


class Launch:
    """One start of a launcher.

    The launcher is attached to before its first instruction instead of being started by lldb: its output then goes
    where lldb's goes, the terminal's input stays lldb's while it runs in the background, and lldb lets go of it at its
    end instead of killing the job.
    """

    def __init__(self, debugger: Any, jobs: JobControl) -> None:
        self._debugger = debugger
        self._jobs = jobs
        self._has_mpir = False
        #: Set by the thread that looks for its ranks.
        self._appeared = False
        #: Its breakpoint at MPIR_Breakpoint, which may not be there yet.
        self.breakpoint: Any = None
        #: Its short name.
        self.name = ""
        selected = debugger.GetSelectedTarget()
        self.target: Any = debugger.CreateTarget("")
        #: Whose settings count: the user's own target, if there is one.
        self._settings_of = selected if selected.IsValid() else self.target

    def run(self, program: str, arguments: str) -> Launched:
        """Runs it until its ranks are there.

        Raises:
            UserError: where that does not come about; nothing is left of the try.
        """
        before = self._debugger.GetAsync()
        waiting: Optional[WaitingProgram] = None
        try:
            # Each step below returns when the launcher has stopped, and lldb shows nothing of these stops.
            self._debugger.SetAsync(False)
            waiting = self._start(program, arguments)
            with settings.changed(self._debugger, _SETTINGS), self._stopped_when_ranks_appear(waiting.pid):
                reached = self._run(waiting)
            self._quiet_signals()
        except BaseException:
            self._undo(waiting)
            raise
        finally:
            self._debugger.SetAsync(before)
        notes = () if reached else (mpir.not_held(self.name),)
        return Launched(waiting.pid, reached, notes)

    def _start(self, program: str, arguments: str) -> WaitingProgram:
        own = self._settings_of
        information = own.GetLaunchInfo()
        if not program:
            program = own.GetExecutable().fullpath or ""
            given = [information.GetArgumentAtIndex(index) for index in range(information.GetNumArguments())]
            arguments = " ".join(shlex.quote(one) for one in given)
        if not program:
            raise UserError("mpi launch: which launcher?", help="type: mpi launch mpirun -n 4 ./a.out", kind="usage")
        self.name = os.path.basename(program)
        directory = information.GetWorkingDirectory() or None
        return WaitingProgram(program, arguments, _environment(information), directory)

    def _run(self, waiting: WaitingProgram) -> bool:
        """Runs it to MPIR_Breakpoint, or until its ranks are there without; whether it is at MPIR_Breakpoint."""
        error = lldb.SBError()
        with settings.patient(self._debugger):
            process = self.target.AttachToProcessWithID(lldb.SBListener(), waiting.pid, error)
        if error.Fail() or process.GetState() not in STOPPED:
            self._ended(waiting)
            raise UserError(
                f"{self.name}: lldb cannot attach to it: {error.GetCString() or 'it does not say why'}",
                kind="no_launch",
            )
        self.breakpoint = breakpoint_at(self.target, gates.BREAKPOINTS)
        waiting.let_go()
        while True:
            error = _continued(process)
            state = process.GetState()
            if state not in ALIVE:
                self._ended(waiting)
            if error.Fail() or state not in STOPPED:
                raise UserError(f"{self.name}: lldb cannot let it run: {said(error)}", kind="no_launch")
            stopped = {int(thread.GetStopReason()): thread for thread in process}
            if lldb.eStopReasonExec in stopped:
                self._at_exec()
            elif lldb.eStopReasonBreakpoint in stopped:
                self._prepare(waiting.pid)
                if gates.started(self._jobs, waiting.pid):
                    return True
            elif self._appeared:
                return False
            elif lldb.eStopReasonSignal in stopped:
                self._at_signal(stopped[lldb.eStopReasonSignal])

    def _at_exec(self) -> None:
        """Another program begins: it stops again when its libraries are there, before anything of its own has run."""
        module = self.target.FindModule(self.target.GetExecutable())
        entry = module.GetObjectFileEntryPointAddress()
        address = entry.GetLoadAddress(self.target) if entry.IsValid() else lldb.LLDB_INVALID_ADDRESS
        if address != lldb.LLDB_INVALID_ADDRESS:
            self.target.BreakpointCreateByAddress(address).SetOneShot(True)

    def _prepare(self, pid: int) -> None:
        self._has_mpir = self._jobs.symbol(pid, mpir.BREAKPOINT) is not None
        gates.set_being_debugged(self._jobs, pid, True)

    def _at_signal(self, thread: Any) -> None:
        signals = thread.GetProcess().GetUnixSignals()
        name = str(signals.GetSignalAsCString(int(thread.GetStopReasonDataAtIndex(0))) or "")
        if name in _FATAL[:-2]:
            raise UserError(f"{self.name} got {name} before it had started its ranks", kind="no_job")

    def _ended(self, waiting: WaitingProgram) -> None:
        status = waiting.exit_status(1.0)
        if status is None:
            return
        how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
        raise UserError(
            f"{self.name} {how} before it had started any rank to attach to",
            help="its output is above",
            kind="no_job",
        )

    @contextlib.contextmanager
    def _stopped_when_ranks_appear(self, pid: int) -> Iterator[None]:
        """A launcher that cannot say when its ranks are there is stopped then."""
        process = self.target.GetProcess

        def appeared() -> bool:
            if self._has_mpir:
                # It says itself when it has started all of them.
                return False
            self._appeared = True
            process().SendAsyncInterrupt()
            return True

        appearing = Appearing(pid, appeared)
        try:
            yield
        finally:
            appearing.end()

    def _quiet_signals(self) -> None:
        """Signals by which a launcher lives neither stop it nor are told."""
        signals = self.target.GetProcess().GetUnixSignals()
        for index in range(signals.GetNumSignals()):
            number = signals.GetSignalAtIndex(index)
            if signals.GetSignalAsCString(number) not in _FATAL:
                signals.SetShouldStop(number, False)
                signals.SetShouldNotify(number, False)
                signals.SetShouldSuppress(number, False)

    def _undo(self, waiting: Optional[WaitingProgram]) -> None:
        process = self.target.GetProcess()
        if process.IsValid() and process.GetState() in ALIVE:
            process.Detach()
        if waiting is not None:
            waiting.end()
        self._debugger.DeleteTarget(self.target)


def breakpoint_at(target: Any, functions: Sequence[str]) -> Any:
    """One breakpoint at all functions of these names, also in libraries that come later."""
    nowhere = lldb.SBFileSpecList()
    return target.BreakpointCreateByNames(list(functions), lldb.eFunctionNameTypeFull, nowhere, nowhere)


def _continued(process: Any) -> Any:
    """Lets a process run until it stops; what lldb says of that.

    lldb tells of Ctrl-C only on the thread that it runs commands on, so another one waits for the process.

    Raises:
        KeyboardInterrupt: where the user wants no more; the process has stopped then, too.
    """
    said_of: List[Any] = []
    waiting = threading.Thread(target=lambda: said_of.append(process.Continue()), daemon=True)
    waiting.start()
    interrupted = False
    while waiting.is_alive():
        waiting.join(_ASKED)
        if not interrupted and base.wants_interrupt():
            interrupted = True
            process.SendAsyncInterrupt()
    if interrupted:
        raise KeyboardInterrupt
    return said_of[0]


def _environment(information: Any) -> Dict[str, str]:
    entries = information.GetEnvironment().GetEntries()
    found = (str(entries.GetStringAtIndex(index)) for index in range(int(entries.GetSize())))
    return {name: value for name, _, value in (entry.partition("=") for entry in found)}
