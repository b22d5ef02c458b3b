"""What commands on whole jobs ask of the debugger: to start a launcher, to have its ranks, to let go of them."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Callable, ContextManager, List, Optional, Sequence


@dataclass(frozen=True)
class Held:
    """One process that the debugger has."""

    pid: int
    #: How the debugger numbers it, such as ``inferior 2``.
    label: str
    #: The name that it was given when it was attached to, such as ``rank 3``; None for one that was not.
    name: Optional[str]
    #: Whether the user is in it.
    selected: bool
    #: running, stopped, or ended where the debugger has not let go of it yet.
    state: str
    #: Whether it is a launcher that was started here or is watched.
    launcher: bool = False


@dataclass(frozen=True)
class Launched:
    """A launcher that the debugger has started."""

    pid: int
    #: Whether it stands at MPIR_Breakpoint with its process table filled, so that its ranks are waiting.
    at_breakpoint: bool
    #: What to know, in sentences: why it does not stand there.
    notes: Sequence[str] = ()


class JobControl(ABC):
    """Several processes of a job in one debugger. Every method leaves the selection as it was, but for ``select``."""

    @abstractmethod
    def held(self) -> List[Held]:
        """The processes that the debugger has, by its number."""

    def uninterrupted(self) -> ContextManager[None]:
        """Within, a Ctrl-C counts where ``interrupted`` is asked: processes are half had, or half let go, in between.
        The debuggers that ask by themselves need nothing."""
        return contextlib.nullcontext()

    def interrupted(self) -> bool:
        """Whether somebody typed Ctrl-C; it counts no more after that."""
        return False

    @abstractmethod
    def attach(self, pid: int, executable: Optional[str], name: str) -> Held:
        """Stops a live process and has it, under this name, beside the others. One that the debugger has already is
        only given the name.

        Raises:
            UserError: where it cannot be had; nothing is left of the try.
        """

    @abstractmethod
    def detach(self, pid: int) -> None:
        """Lets go of a process, which goes on running, and takes away what ``attach`` made for it.

        Raises:
            UserError: where it cannot.
        """

    @abstractmethod
    def select(self, pid: int) -> None:
        """Puts the user into this process."""

    @abstractmethod
    def execute(self, pid: int, command: str) -> str:
        """What a command of the debugger prints where this process is selected.

        Raises:
            UserError: where the command fails, with what it says; and where it would resume processes that are not
                meant, with what to type instead.
        """

    @abstractmethod
    def symbol(self, pid: int, name: str) -> Optional[int]:
        """The address of a variable or function of a process, None where it has none of that name."""

    @abstractmethod
    def read(self, pid: int, address: int, length: int) -> bytes:
        """Memory of a process.

        Raises:
            UserError: where it cannot be read.
        """

    @abstractmethod
    def write(self, pid: int, address: int, content: bytes) -> None:
        """Changes memory of a stopped process. Only for the variables with which a debugger answers the MPIR and MPI2DD
        interfaces (gates, being-debugged): nothing else of a program is ever changed.

        Raises:
            UserError: where it cannot be written.
        """

    @abstractmethod
    def launch(self, program: str, arguments: str, tell: Callable[[str], None]) -> Launched:
        """Starts a launcher by the MPIR protocol: MPIR_being_debugged is set before its main work, and it runs to
        MPIR_Breakpoint with MPIR_debug_state at MPIR_DEBUG_SPAWNED. One without MPIR is stopped as soon as its ranks
        are there. Afterwards the debugger has it, stopped, under the name ``launcher NAME``.

        ``program`` is a path, or a name to be searched for in PATH; ``arguments`` are as they were typed, and mean what
        they mean to the debugger's own command that starts programs. Where both are empty, the debugger's own program
        is started with its own arguments. ``tell`` is given the sentences that later stops at MPIR_Breakpoint are worth
        (MPI_Abort with its string).

        Raises:
            UserError: where it cannot be started, or ends before it has started ranks; nothing is left of the try.
        """

    @abstractmethod
    def watch_launcher(self, pid: int, tell: Callable[[str], None]) -> None:
        """A launcher that was attached to will stop at MPIR_Breakpoint from now on, which ``tell`` is told of; without
        that function it never does.

        Raises:
            UserError: where the debugger does not have it.
        """

    @abstractmethod
    def watch_spawning(self, pid: int, function: str, reached: Callable[[], None]) -> bool:
        """A rank will stop in this function of its own from now on, and ``reached`` is called when it has stopped
        there; False where it has none of that name. What was asked of this rank before counts no more.

        Raises:
            UserError: where the debugger does not have it, or cannot stop it there.
        """

    @abstractmethod
    def release_launcher(self, pid: int) -> str:
        """All the ranks that were wanted are had: the launcher goes on at once where the debugger lets one process run
        beside stopped ones (lldb), or with the next command that resumes the ranks (gdb). Returns sentences that say
        which, what to type to resume everything, and what becomes of the job when the debugger ends.

        Raises:
            UserError: where it cannot go on.
        """
