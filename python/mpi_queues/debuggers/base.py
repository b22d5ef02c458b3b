"""What the Rust core asks of a debugger, as an abstract class.

One object stands for one stopped process. Commands and the core know only this class; ``import gdb`` and
``import lldb`` stand in the adapters alone.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, List, Optional, Tuple, TypedDict

if TYPE_CHECKING:
    from .._native import CoreFile


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


class _Frame(TypedDict):
    #: Without parameters; None where the debugger knows no function there.
    function: Optional[str]
    #: Source file as the compiler was given it (DW_AT_name), None without debug information.
    file: Optional[str]
    line: Optional[int]


class FrameDict(_Frame, total=False):
    """One frame of a stack."""

    #: Whether it is code of the application: ``_native.is_application`` says it. Not there: not known.
    application: bool
    #: The file of its code; None where its code is in none that the debugger has. Not there: not known.
    image: Optional[str]
    #: Of the kernel's call of a signal's handler: the signal's number, 0 where it is not known.
    signal: int


class SystemCallDict(TypedDict):
    """What a thread does in the kernel; see ``crates/model/src/call.rs``."""

    #: As the kernel names it; None: it runs.
    name: Optional[str]
    #: Whether it waits there.
    waits: bool
    #: Whether a wait for a lock has a time limit.
    timed: bool
    #: Of a call on a file that is open: the file's number.
    descriptor: Optional[int]


class _Argument(TypedDict):
    #: The parameter's name in the MPI standard.
    name: str
    #: As the source has it; None where that is not known.
    expression: Optional[str]
    #: An integer, a handle, or an address: 64 bits with a sign.
    value: Optional[int]


class ArgumentDict(_Argument, total=False):
    """One argument of an MPI function; see ``crates/model/src/call.rs``."""

    #: Elements of an array, or the handle at an address.
    values: List[int]
    #: The constant of MPI that it is.
    meaning: str
    #: Why the value, or some elements, are not known.
    unknown: str
    #: What tells the value where no expression does: ``call site``.
    origin: str


class _Stack(TypedDict):
    #: The debugger's number of the thread; the main thread's is 1.
    thread: int
    #: Whether it was seen down to its outermost frame.
    complete: bool
    #: Innermost first.
    frames: List[FrameDict]


class StackDict(_Stack, total=False):
    """The stack of one thread."""

    #: What the application gave the outermost MPI function on it, in the order of its parameters.
    arguments: List[ArgumentDict]
    #: Why these are not known, where it is in MPI.
    arguments_unknown: Optional[str]
    #: Differs where the application has moved on since another look at the thread; None where it could not be taken.
    fingerprint: Optional[str]
    #: What ``add_call`` left of the calls in the source around it.
    source_calls: str
    #: Whether it is the thread that the process began with. Not there: not known.
    main: bool
    #: The kernel's number of the thread. Not there: not known.
    kernel_thread: int
    #: What it does in the kernel; None where that is not known.
    system_call: Optional[SystemCallDict]
    #: Where its own memory begins; None where that is not known.
    thread_pointer: Optional[int]


class RegionDict(TypedDict):
    """One mapping of the process's memory."""

    start: int
    #: First address after it.
    end: int
    readable: bool
    writable: bool
    #: Shared with other processes (MAP_SHARED).
    shared: bool
    #: The mapped file, ``[heap]``, ``[stack]``; empty for other anonymous memory.
    name: str


class DebuggedProcess(ABC):
    """One stopped process under a debugger."""

    #: ``gdb``, ``lldb``: what the JSON calls ``via``; ``core`` for a core file.
    via: str
    #: The debugger with its version, such as ``gdb 13.1``: recordings tell it.
    debugger: str = ""
    #: The core file that has its memory, which the core then reads itself; None for a process.
    core: Optional[CoreFile] = None
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

    def other_files(self, path: str, bias: int) -> List[str]:
        """Where else the file of an image may be had, which the target calls ``path`` and has at ``bias``: for one that
        was deleted or replaced. The core compares them with memory before it believes one."""
        return []

    def library_at(self, address: int) -> Optional[str]:
        """What the target calls the library that has an address, where that is known without the debugger."""
        return None

    def is_in_program(self, address: int) -> bool:
        """Whether it is known without the debugger that the program's own file is mapped at an address."""
        return False

    def remarks(self) -> List[str]:
        """What to know of the last :meth:`stacks`, in sentences."""
        return []

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

    def stack_pointers(self) -> Optional[List[int]]:
        """Where the stack of each thread ends now; None where that is not known of all."""
        return None

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

    def code_place(self, address: int) -> Optional[Tuple[Optional[str], Optional[str], Optional[int]]]:
        """Function (the innermost that is inlined there), source file and line of code.

        None where nothing is known of it.
        """
        return None

    @abstractmethod
    def environment(self, name: str) -> Optional[str]:
        """A variable of the process's initial environment, None where it is not set or not known."""

    @abstractmethod
    def stacks(self) -> List[StackDict]:
        """The stack of each thread, by thread number. One that cannot be unwound is there as far as it goes."""

    @property
    def stacks_complete(self) -> bool:
        """Whether the last :meth:`stacks` has every thread."""
        return False

    def memory_regions(self) -> Optional[List[RegionDict]]:
        """All mappings by address, None where they are not known. Needed for full recordings only."""
        return None
