"""What a command asks of the debugger that it runs under. Commands know nothing else of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Tuple, Union

from ..debuggers.sessions import ProcessSession
from ..report.progress import ProgressLine
from ..report.words import wrapped
from .job_control import JobControl
from .look import Look

#: The terminal of the debugger, whichever of its processes is read.
_LINE = ProgressLine()


@dataclass(frozen=True)
class Dialect:
    """The words of a debugger, for texts that name them. In texts, ``{process}`` stands for what the debugger calls a
    process that it has, and ``{set}`` for how a setting is typed."""

    process: str
    set: str
    #: What to type where there is no process.
    start: str
    #: What to type to see the settings.
    settings: str
    #: Where a plug-in that the program names may lie, besides system directories; empty without such a list.
    trusted: str = ""
    #: Further examples of commands, by the command's name.
    examples: Dict[str, Tuple[Tuple[str, str], ...]] = field(default_factory=dict)

    def fill(self, text: str) -> str:
        """The text in these words."""
        return text.replace("{process}", self.process).replace("{set}", self.set).replace("{trusted}", self.trusted)


@dataclass(frozen=True)
class HandleValue:
    """A handle in the program, as an expression names it."""

    #: What it is called: the expression, or one of its elements such as ``requests[3]``.
    expression: str
    #: The kind's word.
    kind: str
    #: The C handle or the Fortran integer; of a status its address, or its bytes where it has none.
    value: Union[int, bytes]
    fortran: bool
    process: ProcessSession


class Context(ABC):
    """A debugger, as commands see it."""

    #: How a command is typed, such as ``mpi``.
    prefix = "mpi"
    dialect: Dialect
    #: What starts launchers and has the ranks of jobs.
    jobs: JobControl
    #: What ``mpi diagnose`` saw last.
    last_look: Optional[Look] = None
    #: The plug-in that the user loaded by name.
    loaded_plugin: Optional[str] = None

    @abstractmethod
    def write(self, text: str) -> None:
        """Shows text; may page, and raises KeyboardInterrupt where the user has seen enough."""

    def tell(self, text: str) -> None:
        """Shows sentences in lines that are not too long."""
        self.write("".join(wrapped(line, "", "  ") for line in text.split("\n")))

    def progress(self, text: str) -> None:
        """Shows how far something long is, where that can be shown; an empty text takes it away again."""
        _LINE.tell(text)

    @abstractmethod
    def processes(self) -> List[ProcessSession]:
        """The live processes, by the debugger's number; empty where there is none."""

    @abstractmethod
    def evaluate(self, expression: str, kind: Optional[str]) -> List[HandleValue]:
        """The handles that an expression of the selected frame names: one, or those of an array's elements.

        ``kind`` makes integers into Fortran's handles of that kind; without it the expression's type must tell.

        Raises:
            UserError: where it cannot be evaluated, or is no handle. Nothing in the program is called.
        """

    @abstractmethod
    def setting(self, name: str) -> Any:
        """The value of ``source``, ``plugin-path``, ``internal``, ``limit`` (None: unlimited), ``timeout``,
        ``layouts`` or ``wrappers``."""
