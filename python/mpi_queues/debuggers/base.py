"""What the Rust core asks of a debugger, as an abstract class.

One object stands for one stopped process. Commands and the core know only this class; ``import gdb`` and
``import lldb`` stand in the adapters alone.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Dict, List, NamedTuple, Optional, Sequence, Tuple, TypedDict

if TYPE_CHECKING:
    from .._native import CoreFile
    from ..system.files import Reader


class DebuggerError(Exception):
    """The debugger could not do what was asked; the text is for the user."""


class MemoryFault(DebuggerError):
    """Target memory could not be read.

    Attributes:
        address: first address of the read that failed.
        length: its length in bytes.
    """

    def __init__(self, address: int, length: int) -> None:
        super().__init__(f"cannot read {length} bytes of target memory at {address:#x}")
        self.address = address
        self.length = length


class NotInCore(MemoryFault):
    """A core file does not hold these bytes.

    Attributes:
        part: what of the process lies there, in words.
        remedy: what to do to have it.
    """

    def __init__(self, address: int, length: int, part: str, remedy: str) -> None:
        super().__init__(address, length)
        self.args = (f"{length} bytes at {address:#x} are not in the core file: {part}; {remedy}",)
        self.part = part
        self.remedy = remedy


class ProcessGone(DebuggerError):
    """The process ended while it was read."""


def wants_interrupt() -> bool:
    """Whether the user wants the present work to end. A debugger in which Ctrl-C is no signal that Python sees puts its
    own in place of this one."""
    return False


class FieldDict(TypedDict):
    """One member of a structure; see ``crates/layouts/src/lib.rs`` for the meaning."""

    offset: int
    size: int
    kind: str  # signed unsigned float pointer struct union array
    type: str


class TypeDict(TypedDict):
    """Size and flattened members of a structure."""

    size: int
    fields: dict[str, FieldDict]
    #: That of the file that tells it, in hexadecimal digits; None where the debugger does not say.
    build_id: Optional[str]


class ThreadRegisters(NamedTuple):
    """A thread where it stands."""

    #: The debugger's number of it.
    number: int
    #: The kernel's number of it.
    kernel_thread: int
    #: Of those that were asked for, by their names.
    registers: Dict[str, int]


class NamedFrame(NamedTuple):
    """A frame as the debugger names it."""

    function: Optional[str]
    #: Source file as the compiler was given it, and line; None without debug information.
    file: Optional[str]
    line: Optional[int]
    #: The file of its code; None where the debugger has none.
    image: Optional[str]


class DebuggedProcess(ABC):
    """One stopped process under a debugger."""

    #: ``gdb``, ``lldb``: what the JSON calls ``via``; ``core`` for a core file.
    via: str
    #: The debugger with its version, such as ``gdb 13.1``: recordings tell it.
    debugger: str = ""
    #: The core file that has its memory, which the core then reads itself; None for a process.
    core: Optional[CoreFile] = None
    #: Whether it is a process of this machine that the debugger itself traces, which the core then reads itself.
    local: bool = False
    #: For whom files are read that a core file names; None for whoever runs this.
    reader: Optional[Reader] = None
    #: By when (time.monotonic) reading must be done, else it is interrupted; None: no limit.
    deadline: Optional[float] = None

    def out_of_time(self) -> bool:
        """Whether reading must end now."""
        return self.deadline is not None and time.monotonic() > self.deadline

    @property
    @abstractmethod
    def pid(self) -> Optional[int]:
        """Process id on its host; None for a core file that does not tell."""

    @property
    @abstractmethod
    def host(self) -> Optional[str]:
        """Host name, None where it is not known (a remote target)."""

    @property
    @abstractmethod
    def executable(self) -> Optional[str]:
        """Path of the executable as the target names it."""

    @property
    @abstractmethod
    def byte_order(self) -> str:
        """``little`` or ``big``."""

    @property
    @abstractmethod
    def pointer_size(self) -> int:
        """Width of a pointer in bytes."""

    @property
    @abstractmethod
    def file_roots(self) -> List[str]:
        """Directories under which the target's file names are looked for, in order (``/proc/PID/root``, ``/``).

        Empty where the files are not on this machine.
        """

    def forget(self) -> None:
        """The process has run, or may have loaded libraries."""
        return

    @abstractmethod
    def read_memory(self, address: int, length: int) -> bytes | memoryview:
        """Exactly ``length`` bytes at ``address``.

        Raises:
            MemoryFault: where any of them cannot be read.
            ProcessGone: where the process has ended.
        """

    @abstractmethod
    def symbol(self, name: str) -> Optional[Tuple[int, Optional[int]]]:
        """Address and size in bytes (None: not known) of a symbol; None where no image defines it. May be slow."""

    @abstractmethod
    def images(self) -> Optional[List[Tuple[str, int]]]:
        """Path and load bias of each image, the executable first.

        None where the debugger has no such list; the core then reads the dynamic linker's own.
        """

    def program_headers(self) -> Optional[Tuple[int, int]]:
        """Address and number of the executable's program headers in memory (AT_PHDR and AT_PHNUM), None if not known.

        With them the core finds the dynamic linker's list of images without a symbol lookup.
        """
        return None

    @abstractmethod
    def type_layout(self, name: str) -> Optional[TypeDict]:
        """A complete structure type by tag or typedef name from debug information, else None.

        Members of nested structures are flattened with dots; those of anonymous ones appear under their own name.
        """

    @abstractmethod
    def environment(self, name: str) -> Optional[str]:
        """A variable of the process's initial environment, None where it is not set or not known."""

    @property
    def machine(self) -> Optional[str]:
        """As uname calls it, of one whose registers the core knows by their names; None of others."""
        return None

    @abstractmethod
    def threads(self, names: Sequence[str]) -> List[ThreadRegisters]:
        """The threads that stand, with those of these registers that the debugger has."""

    def frames(self) -> List[Tuple[int, int, List[NamedFrame]]]:
        """Of each thread of a machine whose registers the core does not know: the debugger's number, the kernel's
        number, and the frames from the innermost on, as the debugger has them."""
        return []
