"""The processes of a job in gdb: one inferior each, with the name of its rank."""

from __future__ import annotations

import contextlib
import re
from typing import Any, Callable, ContextManager, Dict, List, Optional, Set, Tuple

import gdb

from ..commands import gates
from ..commands.job_control import Held, JobControl, Launched
from ..errors import UserError
from ..system import attaching, processes
from ..system.output import in_lines
from . import events as gdb_events
from . import text as gdb_text
from . import threads as gdb_threads
from .inferiors import having, is_core, state_of
from .launch import Launch, Spawning, Watch
from .quiet import Mute, change, quietly, shown, take_back_interrupt, take_interrupt, uninterrupted

#: gdb's commands that resume what is debugged, and their short forms (gdb manual, "Continuing and Stepping").
_RESUMING = re.compile(
    r"(?:c|cont|continu?e?|fg|r|run|start|starti|s|step|si|stepi|n|next|ni|nexti|fin|fini|finis|finish|u|until|"
    r"adv|advance|j|jump|signal|reverse-\w+|rc|rn|rs|rsi|rni)(?:\s|&|$)"
)


class GdbJobs(JobControl):
    """All inferiors of this gdb."""

    def __init__(self) -> None:
        #: By the inferior's number: the process to which a name was given, and the name.
        self._names: Dict[int, Tuple[int, str]] = {}
        #: Numbers of the inferiors that were made here.
        self._made: Set[int] = set()
        #: Those that were empty before, and are to be so again.
        self._lent: Set[int] = set()
        #: Process ids of launchers, with what watches MPIR_Breakpoint in those that have it.
        self._launchers: Dict[int, Optional[Watch]] = {}
        self._spawning = Spawning()
        #: What ``schedule-multiple`` was before there was a job.
        self._before: Optional[str] = None
        # Once gdb has told of it. What is posted to gdb instead, and not done before it ends, makes gdb 13 crash there.
        gdb.events.before_prompt.connect(self._leave_ended)

    def _leave_ended(self) -> None:
        """Who is in a rank that has ended can do nothing there: to resume the others he has to be in one of them."""
        selected = gdb.selected_inferior()
        if selected.pid or int(selected.num) not in self._names:
            return
        for held in sorted(self.held(), key=lambda held: held.launcher):
            if held.name and held.state == "stopped":
                ended = self._names[int(selected.num)][1]
                with Mute():
                    self.select(held.pid)
                gdb.write(in_lines(f"{ended} has ended; you are in {held.name} ({held.label}).\n"))
                return

    def name_of(self, number: int, pid: int) -> Optional[str]:
        """The name that an inferior's process was given."""
        known = self._names.get(number)
        return known[1] if known is not None and known[0] == pid else None

    def held(self) -> List[Held]:
        selected = gdb.selected_inferior()
        found = []
        for inferior in sorted(gdb.inferiors(), key=lambda inferior: int(inferior.num)):
            if not inferior.pid or is_core(inferior):
                continue
            number, pid = int(inferior.num), int(inferior.pid)
            found.append(
                Held(
                    pid=pid,
                    label=f"inferior {number}",
                    name=self.name_of(number, pid),
                    selected=inferior == selected,
                    state=state_of(inferior),
                    launcher=pid in self._launchers,
                )
            )
        return found

    def uninterrupted(self) -> ContextManager[None]:
        return uninterrupted()

    def interrupted(self) -> bool:
        return take_interrupt()

    def attach(self, pid: int, executable: Optional[str], name: str) -> Held:
        with uninterrupted():
            inferior = having(pid)
            if inferior is None:
                _refuse_non_stop()
                attaching.check_readable(pid)
                with quietly(), gdb_threads.selection_kept(), Mute():
                    inferior = self._attached(pid)
            self._names[int(inferior.num)] = (pid, name)
            self._together()
            return next(held for held in self.held() if held.pid == pid)

    def _attached(self, pid: int) -> Any:
        started, stopped = processes.start_time(pid), processes.state(pid) == "T"
        inferior = self._idle()
        try:
            gdb_threads.select_inferior(inferior)
            try:
                gdb_text.execute(f"attach {pid}")
            finally:
                take_back_interrupt(pid)
            if not inferior.pid:
                raise UserError(f"pid {pid}: gdb did not attach to it", kind="not_attached")
        except BaseException as error:
            # What gdb has by then goes on running, or stays stopped as it was.
            self._let_go(inferior)
            attaching.restore_state(pid, started, stopped)
            if isinstance(error, gdb.error):
                raise UserError(f"pid {pid}: gdb cannot attach to it: {error}", kind="not_attached") from None
            raise
        return inferior

    def detach(self, pid: int) -> None:
        inferior = having(pid)
        if inferior is None:
            raise UserError(f"gdb has no process {pid}", help="type: mpi ranks", kind="no_process")
        watch = self._launchers.pop(pid, None)
        if watch is not None:
            watch.end()
        self._spawning.remove(pid)
        with uninterrupted(), quietly(), Mute():
            problem = self._let_go(inferior)
        if problem is not None:
            raise UserError(f"pid {pid}: gdb cannot detach from it: {problem}", kind="not_detached")
        if not any(held.name for held in self.held()):
            self._tidy()

    def _let_go(self, inferior: Any) -> Optional[str]:
        """Detaches from what an inferior has, and takes it away where it was made here; what gdb says against it."""
        number = int(inferior.num)
        if inferior.pid:
            # Of one that has ended but was not waited for, gdb 13 fails an assertion when it is to detach from it.
            how = "kill" if processes.state(int(inferior.pid)) == "Z" else "detach"
            try:
                gdb_text.execute(f"{how} inferiors {number}")
            except gdb.error as error:
                return str(error)
        self._names.pop(number, None)
        self._remove(inferior)
        return None

    def _remove(self, inferior: Any) -> None:
        number = int(inferior.num)
        if number in self._lent:
            self._lent.discard(number)
            with gdb_threads.selection_kept(), contextlib.suppress(gdb.error):
                gdb_threads.select_inferior(inferior)
                gdb_text.execute("file")
                gdb_text.execute("set args")
        if number not in self._made:
            return
        if gdb.selected_inferior() == inferior:
            others = [other for other in gdb.inferiors() if other != inferior]
            if not others:
                # gdb keeps one at least.
                return
            gdb_threads.select_inferior(min(others, key=lambda other: (not other.pid, int(other.num))))
        with contextlib.suppress(gdb.error):
            gdb_text.execute(f"remove-inferiors {number}")
            self._made.discard(number)

    def _tidy(self) -> None:
        """After the last process of a job: nothing stays of it but what gdb cannot be without."""
        self._spawning.keep(())
        for inferior in gdb.inferiors():
            if not inferior.pid:
                self._names.pop(int(inferior.num), None)
                self._remove(inferior)
        if self._before is not None:
            change("schedule-multiple", self._before)
            self._before = None

    def _together(self) -> None:
        """``continue`` is to mean the whole job: its processes wait for one another."""
        if self._before is None:
            self._before = shown("schedule-multiple")
            change("schedule-multiple", "on")

    def _idle(self, how: str = "add-inferior") -> Any:
        """An inferior without a process and a program: the selected one, or one that is made."""
        selected = gdb.selected_inferior()
        if not selected.pid and not selected.progspace.filename:
            self._lent.add(int(selected.num))
            return selected
        before = {int(inferior.num) for inferior in gdb.inferiors()}
        gdb_text.execute(f"{how} -no-connection")
        made = next(inferior for inferior in gdb.inferiors() if int(inferior.num) not in before)
        self._made.add(int(made.num))
        return made

    def select(self, pid: int) -> None:
        inferior = having(pid)
        if inferior is None:
            raise UserError(f"gdb has no process {pid}", help="type: mpi ranks", kind="no_process")
        gdb_threads.select_main_thread(inferior)

    def execute(self, pid: int, command: str) -> str:
        if shown("non-stop") != "on" and _RESUMING.match(command.strip()):
            raise UserError(
                f"{command.strip().split()[0]}: gdb resumes all processes together",
                help="type it by itself (continue), or first select one rank: inferior N",
                kind="resumes",
            )
        if processes.has_ended(pid):
            raise UserError("the process has ended", help="to remove it, type: mpi detach RANK", kind="gone")
        with self._in(pid) as inferior, gdb_threads.selection_kept(), quietly():
            gdb_threads.select_main_thread(inferior)
            try:
                printed = gdb_text.execute(command)
            except gdb.error as error:
                raise UserError(str(error), kind="command") from None
        return printed

    def symbol(self, pid: int, name: str) -> Optional[int]:
        with self._in(pid):
            return gdb_events.symbol_address(name)

    def read(self, pid: int, address: int, length: int) -> bytes:
        with self._in(pid) as inferior:
            try:
                return bytes(inferior.read_memory(address, length))
            except (gdb.error, OverflowError) as error:
                raise UserError(f"pid {pid}: {error}", kind="memory") from None

    def write(self, pid: int, address: int, content: bytes) -> None:
        with self._in(pid) as inferior:
            try:
                inferior.write_memory(address, content)
            except (gdb.error, OverflowError) as error:
                raise UserError(f"pid {pid}: {error}", kind="memory") from None

    @contextlib.contextmanager
    def _in(self, pid: int) -> Any:
        inferior = having(pid)
        if inferior is None:
            raise UserError(f"gdb has no process {pid}", help="type: mpi ranks", kind="no_process")
        if gdb.selected_inferior() == inferior:
            # Also called while gdb decides about a stop, when nothing may be selected.
            yield inferior
            return
        with gdb_threads.selection_kept():
            gdb_threads.select_inferior(inferior)
            yield inferior

    def launch(self, program: str, arguments: str, tell: Callable[[str], None]) -> Launched:
        _refuse_non_stop()
        selected = gdb.selected_inferior()
        own = not program and not selected.pid
        with gdb_threads.selection_kept():
            # A clone has the environment and the directory that the user has set.
            inferior = selected if own else self._idle("clone-inferior")
            try:
                launched, name = Launch(self, inferior).run(program, arguments)
            except BaseException:
                with quietly(), Mute():
                    self._let_go(inferior)
                raise
        self._names[int(inferior.num)] = (launched.pid, f"launcher {name}")
        self._launchers[launched.pid] = Watch(self, launched.pid, tell) if launched.at_breakpoint else None
        self._together()
        return launched

    def release_launcher(self, pid: int) -> str:
        return (
            "To resume all of the job, launcher and ranks, type: continue\n"
            "To let it run on without the debugger, type: mpi detach (quit ends what gdb itself has started)"
        )

    def watch_launcher(self, pid: int, tell: Callable[[str], None]) -> None:
        if self._launchers.get(pid) is None:
            speaks = gates.speaks(self, pid)
            self._launchers[pid] = Watch(self, pid, tell) if speaks else None

    def watch_spawning(self, pid: int, function: str, reached: Callable[[], None]) -> bool:
        if self.symbol(pid, function) is None:
            return False
        try:
            with self._in(pid):
                self._spawning.keep(held.pid for held in self.held())
                self._spawning.add(pid, function, reached)
        except (gdb.error, RuntimeError) as error:
            raise UserError(f"gdb cannot stop it there: {error}", kind="breakpoint") from None
        return True


def _refuse_non_stop() -> None:
    # gdb 13 then attaches without waiting for the stop, and processes stay stopped where it ends meanwhile.
    if shown("non-stop") == "on":
        raise UserError(
            "gdb is in non-stop mode, in which the ranks of a job cannot be debugged together",
            help="before anything is debugged, type: set non-stop off",
            kind="non_stop",
        )
