"""What to type next: the command that was typed where there is one, and with ``sudo`` where something takes root's
rights, for everybody but root, who has them already."""

from __future__ import annotations

import os
import shlex
from typing import NamedTuple, Optional, Tuple, Union

from .paths import shown

#: What root lacks where the kernel refuses it.
_IN_CONTAINER = "in a container, start it with: --cap-add=SYS_PTRACE"

#: The program's name, with which commands begin.
_NAME = "mpi-queues"

#: A longer command is not repeated in whole (characters).
_MOST = 400


class Line(NamedTuple):
    """A command as it was typed into a shell."""

    #: The program and its command: ``mpi-queues diagnose``.
    command: str
    #: All that follows, and what of it does not say what is read.
    words: Tuple[str, ...]
    others: Tuple[str, ...]
    #: Whether words of it name jobs (``mpi-queues diagnose 4242``), and whether ``--pid`` names processes.
    takes_words: bool
    takes_pids: bool
    #: The program with its path.
    program: str

    @property
    def whole(self) -> str:
        """All of it, as a shell takes it."""
        return self.of(*self.words)

    def of(self, *words: str) -> str:
        """The command with these words."""
        said = " ".join([self.command, shlex.join(words)]).rstrip()
        return shown(said) if len(said) <= _MOST else f"{self.command} …"


_line: Optional[Line] = None


def set_line(line: Optional[Line]) -> None:
    """Says what was typed; None, as it is in debuggers and in Python: nothing was."""
    global _line
    _line = line


def of_job(job: Union[int, str]) -> Optional[str]:
    """What was typed, with a job in place of what it reads; None where that is not known."""
    if _line is None:
        return None
    named = (str(job),) if _line.takes_words else ("--job", str(job))
    return _line.of(*_line.others, *named)


def of_process(pid: Union[int, str] = "PID") -> str:
    """What was typed, or ``show``, with a process in place of what it reads."""
    if _line is None or not _line.takes_pids:
        return f"{_NAME} show --pid {pid}"
    return _line.of(*_line.others, "--pid", str(pid))


def is_root() -> bool:
    """Whether whoever reads the advice is root."""
    return os.geteuid() == 0


def as_root(command: str) -> str:
    """A command as it is typed to be run by root."""
    return command if is_root() else f"sudo {_with_path(command)}"


def as_user(login: str) -> str:
    """What was typed as it is typed to be run by another user (``#1000`` where that has no name)."""
    return f"sudo -u {login} {_with_path(again('mpi-queues …'))}"


def again(otherwise: str) -> str:
    """What was typed; ``otherwise`` where that is not known."""
    return otherwise if _line is None else _line.whole


def _with_path(command: str) -> str:
    """What sudo runs is looked for in a ``PATH`` of its own."""
    if _line is None or not (command == _NAME or command.startswith(f"{_NAME} ")):
        return command
    return shlex.quote(_line.program) + command[len(_NAME) :]


def install(packages: str) -> str:
    """What to type to have packages of Debian."""
    return f"type: {as_root(f'apt install {packages}')}"


def more_rights(purpose: str = "") -> str:
    """What to do to be allowed to look at processes that the kernel refuses, in a sentence; ``purpose``: ``to see all
    processes``."""
    if is_root():
        return _IN_CONTAINER
    return f"{purpose}, use sudo" if purpose else "run mpi-queues with sudo"


def with_rights(purpose: str = "") -> str:
    """The same with the command to type."""
    if is_root() or _line is None:
        return more_rights(purpose)
    return f"{purpose + ', ' if purpose else ''}type: {as_root(_line.whole)}"


def see_all() -> str:
    """What to do to see the processes of all users; empty for root, who sees them."""
    return "" if is_root() else with_rights("to see all processes")


def joined(*advice: str) -> str:
    """Several pieces of advice in one sentence, without the empty ones."""
    return "; ".join(one for one in advice if one)
