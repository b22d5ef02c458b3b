"""A launcher under gdb by the MPIR protocol: started, run to MPIR_Breakpoint, and watched there afterwards."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple

import gdb

from .. import _native
from ..commands import gates, mpir
from ..commands.job_control import JobControl, Launched
from ..debuggers import programs
from ..debuggers.base import DebuggerError
from ..errors import UserError, as_user_error
from ..launchers.appearing import Appearing
from ..system import processes
from ..system.output import in_lines
from . import threads as gdb_threads
from .events import symbols_in_events
from .quiet import FOLLOWING, Mute, quietly

#: Signals that are a launcher's own crash, or that it was stopped by somebody else.
_FATAL = ("SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT", "SIGSYS", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU")


class _Breakpoint(gdb.Breakpoint):  # type: ignore[misc]  # gdb has no types
    """One at MPIR_Breakpoint or its like, wherever it will be; ``decide`` says whether gdb stops."""

    def __init__(self, function: str, decide: Callable[[str], bool]) -> None:
        super().__init__(function, internal=True)
        self._function = function
        self._decide = decide

    def stop(self) -> bool:
        with symbols_in_events():
            return self._decide(self._function)


class Watch:
    """Tells why a launcher calls MPIR_Breakpoint or MPI2DD_breakpoint."""

    def __init__(self, jobs: JobControl, pid: int, tell: Callable[[str], None]) -> None:
        self._jobs = jobs
        self._pid = pid
        self._tell = tell
        self._breakpoints = _breakpoints(jobs, pid, self._decide)

    def _decide(self, function: str) -> bool:
        if gdb.selected_inferior().pid != self._pid:
            # MPI libraries have the function too, and ranks call it.
            return False
        said = gates.event(self._jobs, self._pid, function)
        if said is not None:
            self._tell(said)
        return said is not None

    def end(self) -> None:
        """Not any more."""
        _delete(self._breakpoints)


class Spawning:
    """Ranks that stop in functions that their plug-ins name, where they have spawned processes."""

    def __init__(self) -> None:
        self._breakpoints: Dict[str, _Breakpoint] = {}
        #: By the id of the process: the function, and who is told.
        self._ranks: Dict[int, Tuple[str, Callable[[], None]]] = {}
        self._reached: Optional[Callable[[], None]] = None

    def add(self, pid: int, function: str, reached: Callable[[], None]) -> None:
        """A rank stops there from now on."""
        self.remove(pid)
        if function not in self._breakpoints:
            # One for all ranks: gdb has a place of it in each program.
            self._breakpoints[function] = _Breakpoint(function, self._decide)
        if not self._ranks:
            gdb.events.stop.connect(self._stopped)
        self._ranks[pid] = function, reached

    def keep(self, pids: Iterable[int]) -> None:
        """Only these are there still: the others have ended, and their ids may come again."""
        for pid in set(self._ranks) - set(pids):
            self.remove(pid)

    def remove(self, pid: int) -> None:
        """Not any more."""
        known = self._ranks.pop(pid, None)
        if known is None:
            return
        if not self._ranks:
            gdb.events.stop.disconnect(self._stopped)
        if all(function != known[0] for function, _ in self._ranks.values()):
            _delete([self._breakpoints.pop(known[0])])

    def _decide(self, function: str) -> bool:
        known = self._ranks.get(int(gdb.selected_inferior().pid))
        if known is None or known[0] != function:
            return False
        self._reached = known[1]
        return True

    def _stopped(self, _event: Any) -> None:
        # Only now does gdb read what the plug-in asks for, and may commands of it fail.
        reached, self._reached = self._reached, None
        if reached is None:
            return
        try:
            reached()
        except (UserError, _native.NativeError, DebuggerError, gdb.error, KeyboardInterrupt) as error:
            why = "interrupted" if isinstance(error, KeyboardInterrupt) else as_user_error(error)
            gdb.write(in_lines(f"The rank has spawned processes; which ones is not known: {why}\n"))


class Launch:
    """One start of a launcher, in an inferior without a process."""

    def __init__(self, jobs: JobControl, inferior: Any) -> None:
        self._jobs = jobs
        self._inferior = inferior
        self._mute = Mute()
        self._appearing: Optional[Appearing] = None
        self._breakpoints: List[_Breakpoint] = []
        self._reached = False
        self._has_mpir = False
        self._pid: Optional[int] = None
        self._signal: Optional[str] = None
        self._exit_code: Optional[int] = None

    def run(self, program: str, arguments: str) -> Tuple[Launched, str]:
        """Runs it until its ranks are there; and its name.

        Raises:
            UserError: where that does not come about. The launcher is then told to end.
        """
        gdb_threads.select_inferior(self._inferior)
        with quietly(FOLLOWING), _breakpoints_off():
            name = self._prepare(program, arguments)
            handlers = (
                (gdb.events.new_objfile, self._loaded),
                (gdb.events.stop, self._stopped),
                (gdb.events.exited, self._exited),
            )
            for registry, handler in handlers:
                registry.connect(handler)
            try:
                self._go(name)
            except BaseException as error:
                self._end()
                if isinstance(error, gdb.error):
                    raise UserError(f"{name}: gdb cannot start it: {error}", kind="no_launch") from None
                raise
            finally:
                if self._appearing is not None:
                    self._appearing.end()
                self._mute.off()
                _delete(self._breakpoints)
                for registry, handler in handlers:
                    registry.disconnect(handler)
        pid = int(self._inferior.pid)
        notes = [] if self._reached else [mpir.not_held(name)]
        return Launched(pid, self._reached, notes), name

    def _prepare(self, program: str, arguments: str) -> str:
        """Gives the inferior what it is to run; the launcher's name."""
        if not program:
            own = self._inferior.progspace.filename
            if not own:
                raise UserError(
                    "mpi launch: which launcher?", help="type: mpi launch mpirun -n 4 ./a.out", kind="usage"
                )
            return os.path.basename(str(own))
        path, before = programs.runnable(program, _path())
        gdb.execute(f"file {programs.quoted(path)}", to_string=True)
        gdb.execute(f"set args {' '.join([*map(shlex.quote, before), arguments])}", to_string=True)
        return os.path.basename(program)

    def _go(self, name: str) -> None:
        command = "run"
        while not self._reached:
            gdb.execute(command, to_string=True)
            command = "continue"
            if not self._inferior.pid:
                how = f"ended with status {self._exit_code}" if self._exit_code is not None else "ended"
                raise UserError(
                    f"{name} {how} before it had started any rank to attach to",
                    help="its output is above",
                    kind="no_job",
                )
            if self._reached:
                return
            if self._appearing is not None and self._appearing.complete and self._signal == "SIGSTOP":
                # The launcher does not get it.
                gdb.execute("queue-signal 0", to_string=True)
                return
            if self._signal == "SIGINT":
                raise UserError(f"interrupted: {name} was told to end", kind="interrupted")
            if self._signal in _FATAL:
                raise UserError(f"{name} got {self._signal} before it had started its ranks", kind="no_job")
            # Anything else that gdb stops for is the launcher's own: a signal that it handles, a catchpoint.

    def _decide(self, _function: str) -> bool:
        if gdb.selected_inferior() != self._inferior:
            return False
        if not gates.started(self._jobs, int(self._inferior.pid)):
            return False
        self._reached = True
        self._mute.on()
        return True

    def _loaded(self, event: Any) -> None:
        """A program or a library has come, so that symbols of MPIR may be there now."""
        inferior = gdb.selected_inferior()
        if inferior != self._inferior or not inferior.pid:
            return
        with symbols_in_events():
            self._find_mpir(int(inferior.pid))

    def _find_mpir(self, pid: int) -> None:
        self._pid = pid
        self._has_mpir = mpir.has(self._jobs, pid, mpir.BREAKPOINT)
        if not self._breakpoints:
            self._breakpoints = _breakpoints(self._jobs, pid, self._decide)
        # Before libraries are relocated their variables are there already; this comes again with each of them.
        with contextlib.suppress(UserError):
            gates.set_being_debugged(self._jobs, pid, True)
        if self._appearing is None:
            self._appearing = Appearing(pid, self._interrupt)

    def _interrupt(self) -> bool:
        """All ranks are there, and the launcher cannot say so: it is stopped. Called on a thread of its own, where
        nothing may be asked of gdb."""
        if self._has_mpir:
            return False
        self._mute.on(flush=False)
        return self._pid is not None and processes.send(self._pid, signal.SIGSTOP)

    def _stopped(self, event: Any) -> None:
        self._signal = str(event.stop_signal) if isinstance(event, gdb.SignalEvent) else None

    def _exited(self, event: Any) -> None:
        if event.inferior == self._inferior:
            self._exit_code = getattr(event, "exit_code", None)

    def _end(self) -> None:
        """The launcher is told to end, with what it has started, when gdb lets go of it."""
        if self._inferior.is_valid() and self._inferior.pid:
            processes.send(int(self._inferior.pid), signal.SIGTERM)


def _breakpoints(jobs: JobControl, pid: int, decide: Callable[[str], bool]) -> List[_Breakpoint]:
    """At those functions that the process has."""
    return [_Breakpoint(function, decide) for function in gates.BREAKPOINTS if mpir.has(jobs, pid, function)]


def _delete(breakpoints: List[_Breakpoint]) -> None:
    for one in breakpoints:
        if one.is_valid():
            one.delete()


@contextlib.contextmanager
def _breakpoints_off() -> Iterator[None]:
    """The user's breakpoints are meant for the ranks: a launcher has a main, too."""
    enabled = [one for one in gdb.breakpoints() if one.enabled]
    try:
        for one in enabled:
            one.enabled = False
        yield
    finally:
        for one in enabled:
            if one.is_valid():
                one.enabled = True


def _path() -> str:
    """PATH as the program will have it."""
    told = gdb.execute("show environment PATH", to_string=True).strip()
    _, equals, value = told.partition(" = ")
    return value if equals else os.environ.get("PATH", os.defpath)
