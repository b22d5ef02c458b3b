"""What a command asks of the debugger that it runs under. Commands know nothing else of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from .._native import Snapshot
from ..handle_types import HandleDict
from ..report.progress import ProgressLine
from ..report.words import wrapped
from .job_control import JobControl

if TYPE_CHECKING:
    from .diagnose import Look

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


class DebuggedMpi(ABC):
    """One live process of the debugger, read through the core."""

    #: How the debugger numbers it, such as ``inferior 2 (pid 4242)`` or ``target #1 (pid 4242)``.
    label: str
    selected: bool

    @property
    @abstractmethod
    def pid(self) -> Optional[int]:
        """Its process id; None where the debugger does not know it."""

    @abstractmethod
    def read(
        self, *, source: str, plugin: Optional[str], timeout: float, queues: bool, handles: Sequence[str] = ()
    ) -> Snapshot:
        """What :meth:`Session.read` gives; asked again at the same stop, the answer is remembered."""

    @abstractmethod
    def outline(self) -> Optional[Snapshot]:
        """As :meth:`Session.outline`."""

    @abstractmethod
    def identity(self) -> Dict[str, Optional[int]]:
        """Rank and size in MPI_COMM_WORLD."""

    @abstractmethod
    def describe(
        self,
        kind: str,
        value: Union[int, bytes],
        *,
        fortran: bool = False,
        full: bool = False,
        source: str = "auto",
        plugin: Optional[str] = None,
        timeout: float = 60.0,
    ) -> HandleDict:
        """As :meth:`Session.describe`."""

    @abstractmethod
    def handles(
        self,
        wanted: Sequence[Tuple[str, Optional[str]]] = (),
        *,
        source: str = "auto",
        plugin: Optional[str] = None,
        timeout: float = 60.0,
    ) -> Snapshot:
        """As :meth:`Session.handles`."""

    @abstractmethod
    def info(self) -> Dict[str, Any]:
        """What was detected, from where, and what is missing."""

    @abstractmethod
    def compare(self, *, plugin: Optional[str], timeout: float) -> List[str]:
        """Where reader and plug-in differ."""

    @abstractmethod
    def handle_plugin_info(self, *, plugin: Optional[str], timeout: float) -> Dict[str, Any]:
        """The plug-in for handles that would be used."""

    @abstractmethod
    def plugin_info(self, *, plugin: Optional[str], timeout: float) -> Dict[str, Any]:
        """The plug-in that would be used."""

    @abstractmethod
    def record(
        self,
        write: Callable[[bytes], Any],
        *,
        full: bool = False,
        progress: Optional[Callable[[int, int], Any]] = None,
    ) -> Optional[str]:
        """As :meth:`Session.record`."""

    @abstractmethod
    def set_identity(self, identity: Optional[int]) -> None:
        """Its place in the universe of its job, which plug-ins for MPI-2 are told; None where that is its rank."""

    @abstractmethod
    def set_plugin_path(self, paths: List[str]) -> None:
        """The ``plugin-path`` setting: plug-ins, or directories with some."""

    @abstractmethod
    def set_layouts(self, path: Optional[str]) -> None:
        """The ``layouts`` setting: a profile to use instead of the shipped ones; None for those.

        Raises:
            UserError: where the file is none.
        """

    @abstractmethod
    def trust_plugin(self, path: str) -> Dict[str, Any]:
        """Checks a plug-in and remembers that the user asked for it."""


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
    process: DebuggedMpi


class Context(ABC):
    """A debugger, as commands see it."""

    #: How a command is typed, such as ``mpi``.
    prefix = "mpi"
    dialect: Dialect
    #: What starts launchers and has the ranks of jobs.
    jobs: JobControl
    #: What ``mpi diagnose`` saw last.
    last_look: Optional[Look] = None

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
    def processes(self) -> List[DebuggedMpi]:
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
        """The value of ``source``, ``plugin-path``, ``internal``, ``limit`` (None: unlimited), ``timeout`` or
        ``layouts``."""

    @property
    @abstractmethod
    def loaded_plugin(self) -> Optional[str]:
        """The plug-in that the user loaded by name."""

    @abstractmethod
    def remember_plugin(self, path: str) -> None:
        """The user loaded this plug-in by name."""
