"""The Rust core. Everything here is re-exported, documented and typed by ``mpi_queues``."""

import os
from typing import Any, Callable, Dict, List, Optional, Sequence, Union, final

from .debuggers.base import DebuggedProcess

__version__: str
__all__ = [
    "Communicator",
    "NativeError",
    "Operation",
    "Process",
    "Queue",
    "Recording",
    "Session",
    "Snapshot",
    "__version__",
    "layouts_list",
    "layouts_make",
    "layouts_show",
    "recording_end",
    "recording_start",
]

class NativeError(Exception):
    """What the core could not do. ``kind`` is a stable word, ``help`` the next thing to type (may be empty)."""

    kind: str
    help: str

@final
class Session:
    """One process, held across stops. All methods need the process to be stopped."""

    def __new__(cls, process: DebuggedProcess, *, layouts: Optional[str] = None) -> Session:
        """``layouts`` is the path of a layout profile to use instead of the shipped ones."""

    def invalidate(self, *, images: bool = False) -> None:
        """Forgets what was read: the process ran or was written to; with ``images``, libraries were loaded too."""

    def info(self) -> Dict[str, Any]:
        """What was detected, from where, and what is missing, for ``mpi info``. Never raises for a readable process."""

    def identity(self) -> Dict[str, Optional[int]]:
        """``{"rank": …, "world_size": …}`` in MPI_COMM_WORLD; None where not known."""

    def read(
        self, *, source: str = "auto", plugin: Optional[str] = None, timeout: float = 60.0, queues: bool = True
    ) -> Snapshot:
        """Reads the process: one snapshot with one process.

        ``source`` is ``auto``, ``builtin`` or ``plugin``; ``plugin`` the path of a plug-in asked for by name, else it
        is searched for. ``timeout`` is the time limit of a plug-in in seconds. ``queues=False`` lists communicators only.

        Raises NativeError, kinds: ``not_mpi``, ``unsupported_mpi``, ``not_initialized``, ``finalized``, ``no_layout``,
        ``no_plugin``, ``plugin_refused``, ``plugin_failed``, ``gone``, ``fault``.
        """

    def record(
        self,
        write: Callable[[bytes], Any],
        *,
        full: bool = False,
        progress: Optional[Callable[[int, int], Any]] = None,
    ) -> Optional[str]:
        """Writes the process as one part of a recording, in pieces. ``full`` adds all writable memory of the MPI library and
        the heap. ``progress`` is told how many bytes of memory are written, of how many.

        Returns why the process cannot be read, where it cannot: it is recorded as far as it goes, and a replay says the
        same. Raises NativeError, kinds: ``not_mpi``, ``not_recorded``, ``gone``, ``fault``; and whatever ``write`` raises.
        """

    def compare(self, *, plugin: Optional[str] = None, timeout: float = 60.0) -> List[str]:
        """Sentences about where reader and plug-in differ; empty where they agree."""

    def plugin_info(self, *, plugin: Optional[str] = None, timeout: float = 60.0) -> Dict[str, Any]:
        """What the plug-in that would be used is: ``path``, ``how`` it was found, ``version``, ``compatibility``, ``width``,
        ``trusted``, ``reason``, ``functions``; ``candidates`` looked at."""

    def trust_plugin(self, path: str) -> Dict[str, Any]:
        """``mpi plugin load PATH``: checks the plug-in in the child process and remembers that the user asked for it."""

    def set_plugin_path(self, paths: Sequence[str]) -> None:
        """The ``plugin-path`` setting: plug-ins, or directories with some; a file in a directory must be nobody else's."""

    def set_safe_path(self, directories: Sequence[str]) -> None:
        """Directories that the user trusts (gdb's ``auto-load safe-path``)."""

@final
class Recording:
    """A recording: opened, its checksums verified, nothing of its processes loaded yet."""

    def __new__(cls, path: Union[str, os.PathLike[str]]) -> Recording:
        """Raises NativeError (kind ``recording``) where the file is none, or of a later version."""

    def __len__(self) -> int:
        """How many processes it has, damaged ones included."""

    @property
    def problems(self) -> List[str]: ...
    @property
    def format_version(self) -> int: ...
    def info(self) -> Dict[str, Any]:
        """``path``, ``format``, ``bytes``, ``about`` (who made it), ``problems``, and ``processes``: of each ``rank``,
        ``world_size``, ``pid``, ``host``, ``executable``, ``captured_at``, ``tool``, ``via``, ``debugger``, ``mpi``, ``layouts``,
        ``full``, ``images``, ``symbols``, ``threads``, ``memory`` (bytes), ``ranges``, ``left_out``, ``problem``."""

    def session(self, index: int) -> Session:
        """A session that replays a process: readers run on it as on a live one. Raises IndexError; NativeError (kind
        ``recording``) for a damaged process."""

@final
class Operation:
    """One operation; attributes are those of the JSON. ``to_dict()`` gives the JSON object."""

    status: str
    desired_local_rank: Optional[int]
    desired_global_rank: Optional[int]
    any_source: bool
    tag_wild: bool
    desired_tag: Optional[int]
    desired_length: Optional[int]
    system_buffer: bool
    buffer: Optional[int]
    actual_local_rank: Optional[int]
    actual_global_rank: Optional[int]
    actual_tag: Optional[int]
    actual_length: Optional[int]
    internal: bool
    persistent: bool
    call: Optional[str]
    datatype: Optional[str]
    count: Optional[int]
    request: Optional[int]
    extra_text: List[str]
    def to_dict(self) -> Dict[str, Any]: ...

@final
class Queue:
    """One queue: a sequence of operations with a state (``ok``, ``no_information``, ``error``) and its detail."""

    state: str
    detail: Optional[str]
    operations: Queue
    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Operation: ...

@final
class Communicator:
    name: str
    name_set: Optional[bool]
    unique_id: int
    context_id: Optional[str]
    handle: Optional[str]
    local_rank: Optional[int]
    size: Optional[int]
    group: Optional[List[Optional[int]]]
    remote_group: Optional[List[Optional[int]]]
    pending_sends: Queue
    pending_receives: Queue
    unexpected_messages: Queue

@final
class Process:
    rank: Optional[int]
    world_size: Optional[int]
    pid: Optional[int]
    host: Optional[str]
    executable: Optional[str]
    mpi: Optional[Dict[str, Any]]
    source: Optional[Dict[str, Any]]
    calls: List[Dict[str, Any]]
    communicators: List[Communicator]
    notes: List[str]
    problems: List[str]
    def communicator(self, name: str) -> Communicator:
        """The communicator of that name; KeyError where there is none, or more than one."""

@final
class Snapshot:
    """All that was read at one time."""

    captured_at: Optional[str]
    processes: List[Process]
    problems: List[str]
    def __new__(cls) -> Snapshot: ...
    def rank(self, rank: int) -> Process:
        """The process of that world rank; KeyError where it was not read."""

    @staticmethod
    def from_json(text: str) -> Snapshot:
        """Raises ValueError where the text is not of the schema ``mpi-queues/1``."""

    @staticmethod
    def merged(snapshots: Sequence[Snapshot], problems: Sequence[str] = ...) -> Snapshot:
        """One snapshot of many, processes ordered by rank, then pid."""

    def filtered(self, *, comm: Optional[str] = None, rank: Optional[int] = None, internal: bool = True) -> Snapshot:
        """Only the communicators of that name, the process of that world rank; without internal operations if asked."""

    def to_json(self, *, indent: Optional[int] = None) -> str: ...
    def write_json(self, write: Callable[[str], Any], *, indent: Optional[int] = None) -> None:
        """The JSON in pieces of about 64 KiB, so that a large snapshot needs no second copy in memory."""

def layouts_list() -> List[Dict[str, Any]]:
    """The shipped profiles: ``name``, ``implementation``, ``version``, ``fits``, ``types``."""

def layouts_show(name: str) -> str:
    """The JSON text of a shipped profile; KeyError where there is none of that name."""

def layouts_make(
    *,
    objects: Sequence[str],
    name: str,
    implementation: str,
    version: str,
    fits: Sequence[str],
    sources: Sequence[str],
    command: str,
    types: Sequence[str],
    build_ids: Sequence[str],
) -> str:
    """A profile from the DWARF of object files, executables or libraries (an empty ``types`` takes the readers' list)."""

def recording_start(info: str) -> bytes:
    """What stands in a recording before its first process; ``info`` is JSON about who made it."""

def recording_end(processes: int) -> bytes:
    """What stands in a recording after its last process."""
