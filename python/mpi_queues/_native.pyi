"""The Rust core. Everything here is re-exported, documented and typed by ``mpi_queues``."""

import os
from typing import (
    AbstractSet,
    Any,
    Callable,
    ClassVar,
    Dict,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Set,
    Tuple,
    Union,
    final,
)

from .debuggers.base import DebuggedProcess
from .debuggers.values import Scope, Typed
from .handle_types import HandleDict, HandleListDict
from .launchers.table_types import ProcessTableDict
from .mpi2dd.types import Mpi2ddDict

__version__: str
#: The version of what agents of nodes are asked and answer.
AGENT_PROTOCOL: int
#: The functions of MPI, in C, that only ask whether something has come about.
POLLS: List[str]
#: A process that wants a processor must have had one for so many seconds: else it could not move.
RAN: float
__all__ = [
    "AGENT_PROTOCOL",
    "POLLS",
    "RAN",
    "Communicator",
    "CoreFile",
    "Diagnosis",
    "Digests",
    "Finding",
    "KeptHandler",
    "LiveProcesses",
    "NativeError",
    "Operation",
    "Process",
    "Queue",
    "Recorded",
    "Recording",
    "RegularFile",
    "Session",
    "Snapshot",
    "StackNode",
    "StackTree",
    "Unknown",
    "Watchdog",
    "__version__",
    "about_file",
    "answered_again",
    "begin_look",
    "c_name",
    "core_session",
    "handle_kinds",
    "interrupt",
    "irregular",
    "is_mpi_library",
    "layered",
    "layouts_list",
    "layouts_make",
    "layouts_show",
    "living",
    "message_memory",
    "mpi2dd",
    "open_regular",
    "printable",
    "printable_json",
    "process_table",
    "real_path",
    "recording_end",
    "recording_start",
    "release_everything",
    "slurm_job",
    "starved",
    "take_back_interrupt",
    "unanswered",
    "value_of_c",
    "waits_in",
    "wants_processor",
    "watch",
]

class NativeError(Exception):
    """What the core could not do. ``kind`` is a stable word, ``help`` the next thing to type (may be empty)."""

    kind: str
    help: str

class Unknown(Exception):
    """Why something about a call is not known, as a sentence without a capital and a full stop."""

def begin_look(deadline: Optional[float] = None) -> None:
    """A look at a job begins, which may take until ``deadline`` (``time.monotonic``): its files may take their time again."""

def interrupt() -> None:
    """Reading ends as soon as it can, in whatever thread; what was asked for fails with an error. Until ``begin_look``."""

def release_everything() -> None:
    """Lets all processes go on that stand for us, whoever reads them."""

@final
class Watchdog:
    """Ends this program where a reading does not end, whatever it does: ``limit`` seconds from now the processes that stand go on,
    and ``grace`` seconds later the program ends with status 1 and says so. After SIGINT and SIGTERM it ends within ``grace`` seconds,
    too."""

    def __new__(cls, limit: float, grace: float) -> Watchdog: ...
    def signals(self) -> Optional[int]:
        """The descriptor to which the numbers of signals are to be written (``signal.set_wakeup_fd``), until ``stop``."""

    def renew(self, limit: float, grace: float) -> None:
        """Another limit from now on, unless a signal came."""

    def stop(self) -> None:
        """The reading has ended."""

@final
class KeptHandler:
    """What C has as the handler of SIGINT, for Python can only replace it."""

    def __new__(cls) -> KeptHandler: ...
    def restore(self) -> None:
        """It is there again."""

def take_back_interrupt(pid: int) -> bool:
    """Takes back a SIGINT that this program has sent to a process that it traces and that stands. Whether there was one.

    Raises:
        OSError: what ptrace(2) says.
    """

@final
class LiveProcesses:
    """Live processes, which are stopped without a debugger, read and let go, as often as is wanted. No signal is sent: the
    kernel lets them go on where this program ends. What does not change while they run is found out once."""

    def __new__(cls, *, layouts: Union[str, os.PathLike[str], None] = None) -> LiveProcesses:
        """``layouts`` as of :class:`Session`."""

    def stop(self, pids: Sequence[int], timeout: float, deadline: Optional[float], *, rehearsal: bool = False) -> None:
        """Stops these together, within ``timeout`` seconds, until they are let go or this is gone. Those that cannot be stopped
        run on. They are to be read until ``deadline`` (``time.monotonic``). Others that stood go on.

        Args:
            rehearsal: nothing that is read is told; threads whose system call would fail with EINTR are left alone.
        """

    @property
    def failures(self) -> List[Tuple[int, str, str]]:
        """Why others do not stand: process id, kind (``gone``, ``traced``, ``no_permission``, ``timeout``, ``other_machine``,
        ``not_stopped``), and a sentence."""

    def stopped_at(self, pid: int) -> Optional[float]:
        """When the last thread of a process stood, in seconds since 1970; None where it was not stopped."""

    def knows(self, pid: int) -> bool:
        """Whether it was read before."""

    def session(self, pid: int) -> Session:
        """The session over a process that stands.

        Raises NativeError where it does not stand, or cannot be read.
        """

    def copy(self) -> float:
        """Copies of those that stand what was asked for when they were read before, and lets all go on; when they went on, in
        seconds since 1970."""

    def copied(self, pid: int) -> Session:
        """The session over a process that was copied; it reads the copy.

        Raises NativeError where it was not.
        """

    def missed(self, pid: int) -> bool:
        """Whether something was asked of a copy that it does not have: what was told of the process is not true."""

    def let_run(self) -> None:
        """Lets all go on. Their sessions read on; what they find then is not of one time."""

    def release_all(self) -> None:
        """Lets all go on; their sessions read nothing any more."""

def message_memory(pid: int) -> List[Tuple[int, int]]:
    """Address and length in bytes of each piece of the memory through which messages come to a process: what it shares
    with others. Empty where its mappings may not be read."""

def watch(pids: Sequence[int], seconds: float) -> Tuple[List[int], List[int]]:
    """Watches the messages of processes, which run on, for so many seconds.

    Returns:
        those through whose shared memory, or connections with one another, messages went; and those whose messages may
        have gone where nobody sees them: they have a device of a network open, or sockets of datagrams, or something
        went through connections with others, or their memory or files may not be read.

    Raises:
        ValueError: where ``seconds`` is no time. What a signal's function raises.
    """

@final
class Recorded:
    """How far processes under the flight recorder are, read while they run: nothing of them is stopped."""

    def __new__(cls) -> Recorded: ...
    def steps(self, pids: Sequence[int], *, anew: bool = False) -> Dict[int, List[Tuple[int, int]]]:
        """By process, of each of its threads that have called MPI the kernel's number and how many steps it has made: one
        for each call that does more than to ask whether something has come about, and one for each request that such a
        call has completed. Not of processes that have no record, or whose record cannot be read. A number that is
        another one says that the thread has gone on.

        Args:
            anew: those that had no record before are looked at again.
        """

def starved(used: Mapping[int, float], least: float) -> List[int]:
    """Those that want a processor and have had less than ``least`` seconds of it since they had used so many."""

def waits_in(pid: int) -> Optional[Tuple[str, Optional[int]]]:
    """The system call in which the first thread of a process waits, by its name, and the number of the file that it is
    on; None where it does not wait, or may not be looked at."""

def wants_processor(pid: int) -> bool:
    """Whether a thread of a process has a processor or waits for one."""

def living(pid: int, proc: Union[str, os.PathLike[str], None] = None) -> Optional[Tuple[int, str]]:
    """The thread by which a process lives, and the letter of its state: the main thread, or where that has ended the first
    of the others; None where all have ended, or there is no such process.

    Args:
        proc: where processes are listed (default: ``/proc``).
    """

def core_session(
    core: CoreFile,
    exe: Union[str, os.PathLike[str], None] = None,
    *,
    layouts: Union[str, os.PathLike[str], None] = None,
    deadline: Optional[float] = None,
    reader: Optional[Tuple[int, int, Sequence[int]]] = None,
) -> Session:
    """A session over the process of a core file, without a debugger. ``exe`` is its program, where the user has named it;
    ``reader`` is for whom files are read that the core file names: user, group, other groups.

    Raises NativeError that names what does not fit.
    """

@final
class CoreFile:
    """A core file, held open: which memory of the process it holds, and what it tells of the process."""

    def __new__(cls, path: Union[str, os.PathLike[str]]) -> CoreFile:
        """Raises NativeError where it cannot be read, or is no core file of a program of this kind of machine."""

    @property
    def owner(self) -> Optional[int]:
        """User id of the process: whose the file is, or, of root's files, who it says; None where neither tells."""

    @property
    def pid(self) -> Optional[int]:
        """Process id on its host; None where the file does not tell."""

    @property
    def executable(self) -> Optional[str]:
        """Path of the program that dumped it, as the kernel knew it; None where the file does not tell."""

    @property
    def program_headers(self) -> Optional[Tuple[int, int]]:
        """AT_PHDR and AT_PHNUM."""

    def environment(self, name: bytes) -> Optional[bytes]:
        """A variable of the initial environment; None where it was not set, or the file does not hold it."""

    def read(self, address: int, length: int) -> bytes:
        """Exactly ``length`` bytes of the process's memory, from the file or from those that were mapped.

        Raises NotInCore (``debuggers.base``) where they do not have all of them.
        """

    def is_program(self, path: Union[str, os.PathLike[str]]) -> bool:
        """Whether a program is the one that dumped this, as far as both tell. Raises OSError where it cannot be read."""

@final
class Session:
    """One process, held across stops. All methods need the process to be stopped."""

    def __new__(cls, process: DebuggedProcess, *, layouts: Union[str, os.PathLike[str], None] = None) -> Session:
        """``layouts`` is the path of a layout profile to use instead of the shipped ones."""

    def invalidate(self, *, images: bool = False) -> None:
        """Forgets what was read: the process ran or was written to; with ``images``, libraries were loaded too."""

    def info(self) -> Dict[str, Any]:
        """What was detected, from where, and what is missing, for ``mpi info``. Never raises for a readable process."""

    def identity(self) -> Dict[str, Optional[int]]:
        """``{"rank": …, "world_size": …}`` in MPI_COMM_WORLD; None where not known."""

    def read(
        self,
        *,
        source: str = "auto",
        plugin: Optional[str] = None,
        timeout: float = 60.0,
        queues: bool = True,
        handles: Sequence[str] = ...,
        stacks: bool = False,
        wrappers: Sequence[str] = ...,
    ) -> Snapshot:
        """Reads the process: one snapshot with one process.

        ``source`` is ``auto``, ``builtin`` or ``plugin``; ``plugin`` the path of a plug-in asked for by name, else it
        is searched for. ``timeout`` is the time limit of a plug-in in seconds. ``queues=False`` lists communicators only. ``handles`` are kinds whose objects are read as well (``comm``, ``win``, …). With ``stacks`` the frames of all threads are in ``Process.stacks``. ``wrappers`` names libraries and functions that wrap MPI for the application.

        Raises NativeError, kinds: ``not_mpi``, ``unsupported_mpi``, ``not_initialized``, ``finalized``, ``no_layout``,
        ``no_symbols``, ``no_plugin``, ``plugin_refused``, ``plugin_failed``, ``gone``, ``fault``.
        """

    def outline(self, *, stacks: bool = False, wrappers: Sequence[str] = ...) -> Optional[Snapshot]:
        """A process that cannot be read because MPI_Init is not done, or MPI_Finalize is: one snapshot with one process
        that has its ``stage`` and where it stands; None for all others."""

    def standing(self, *, wrappers: Sequence[str] = ...) -> Snapshot:
        """Where the threads of the process stand, with all frames (``Process.stacks``), whatever its MPI is: one snapshot with one
        process, without its queues. Where its MPI cannot be read, a note says why.

        Raises NativeError, kinds as of :meth:`read`, where no stack can be read either."""

    def describe(
        self,
        kind: str,
        value: int | bytes,
        *,
        fortran: bool = False,
        full: bool = False,
        source: str = "auto",
        plugin: Optional[str] = None,
        timeout: float = 60.0,
        cxx: Optional[str] = None,
    ) -> HandleDict:
        """What one handle means. ``kind`` is the kind's word (``comm``) or its type (``MPI_Comm``).

        ``value`` is that of the C handle, with ``fortran`` the Fortran integer; of a status its address or its bytes. With
        ``full`` everything is read, with references to other objects; else what ``summary`` needs. A value that is no handle is
        told in ``state``, never raised.

        With ``source="plugin"`` a plug-in for handles (MPIDBG) tells: ``plugin``, or one that is searched for, within
        ``timeout`` seconds. It knows communicators, error handlers, requests and statuses; the fact ``told_by`` names it. For
        it ``value`` may be the address of an object of the C++ class ``cxx`` (``MPI::Cartcomm``).

        Raises NativeError where the process has no MPI that can be read now, kinds as of :meth:`read`.
        """

    def handles(
        self,
        wanted: Sequence[Tuple[str, Optional[str]]] = ...,
        *,
        source: str = "auto",
        plugin: Optional[str] = None,
        timeout: float = 60.0,
    ) -> Snapshot:
        """The objects of kinds, or those that a value names: one snapshot with one process, whose ``handles`` they are, a list
        for each that is wanted, in that order; all of every kind where nothing is.

        ``wanted`` are pairs of a kind's word and a value: None for all, ``0x…`` the C handle, a decimal number the Fortran
        integer, anything else a name.

        ``source``, ``plugin`` and ``timeout`` are as of :meth:`describe`: a plug-in is asked about the objects that the built-in
        reader finds, and those to which it gives names; it cannot list any.

        Raises NativeError, kinds as of :meth:`read`, and ``no_handle`` where no object has that name.
        """

    def handle_plugin_info(self, *, plugin: Optional[str] = None, timeout: float = 60.0) -> Dict[str, Any]:
        """What the plug-in for handles that would be used is: ``path``, ``how`` it was found, ``trusted``, ``reason`` (why there
        is none, or it cannot be used), ``version``, ``interface``, ``width``, ``functions``, ``missing``, ``types`` (pairs: the
        standard's name of a handle, the type), ``capabilities`` (pairs: kind, the interface's bits), ``names`` (kind, name,
        handle); ``candidates`` looked at."""

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

    def set_identity(self, identity: Optional[int]) -> None:
        """The process's place in the universe of its job, which plug-ins for MPI-2 are told."""

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
        ``full``, ``images``; ``whole``; ``symbols``, ``threads``, ``memory`` (bytes) and ``ranges``, None where it is not whole;
        ``left_out``, ``problem``."""

    def session(self, index: int) -> Session:
        """A session that replays a process: readers run on it as on a live one. Raises IndexError; NativeError (kind
        ``recording``) for a damaged process."""

@final
class Operation:
    """One operation: a pending send, a pending receive or an unexpected message. Two are equal where all they say is."""

    # Made by tools/make-views.

    @property
    def status(self) -> str:
        """How far it is. Words: ``pending``, ``in_transit``, ``matched``, ``complete``."""

    @property
    def desired_local_rank(self) -> Optional[int]:
        """The peer's rank in the communicator; None for any source, or where it is not known."""

    @property
    def desired_global_rank(self) -> Optional[int]:
        """The peer's rank in MPI_COMM_WORLD; None for any source, or where it is not known."""

    @property
    def any_source(self) -> bool:
        """Whether a receive takes any source."""

    @property
    def tag_wild(self) -> bool:
        """Whether a receive takes any tag."""

    @property
    def desired_tag(self) -> Optional[int]:
        """The tag; None where it is wild or not known."""

    @property
    def desired_length(self) -> Optional[int]:
        """Length of the message, or of the buffer of a receive, in bytes."""

    @property
    def system_buffer(self) -> bool:
        """Whether the data lies in a buffer of the system: a buffered send's copy, an unexpected message."""

    @property
    def buffer(self) -> Optional[int]:
        """Address of the data in the process."""

    @property
    def actual_local_rank(self) -> Optional[int]:
        """Rank in the communicator of the peer that was matched (receives), or of the destination (sends)."""

    @property
    def actual_global_rank(self) -> Optional[int]:
        """The same peer's rank in MPI_COMM_WORLD."""

    @property
    def actual_tag(self) -> Optional[int]:
        """The tag that was matched."""

    @property
    def actual_length(self) -> Optional[int]:
        """Length of the message that was matched, in bytes."""

    @property
    def internal(self) -> bool:
        """Whether the MPI library posted it for itself, in a collective for instance."""

    @property
    def persistent(self) -> bool:
        """Whether it belongs to a persistent request."""

    @property
    def call(self) -> Optional[str]:
        """The MPI function that made it, such as ``MPI_Irecv``, where that is known."""

    @property
    def datatype(self) -> Optional[str]:
        """Name of the datatype, where it has one."""

    @property
    def count(self) -> Optional[int]:
        """Number of elements of the datatype."""

    @property
    def request(self) -> Optional[int]:
        """The C handle of the request; where handles are pointers the address of the MPI library's object."""

    @property
    def library_request(self) -> Optional[int]:
        """Of a send that waits for its receiver: by which address or number the MPI library, or the network's below
        it, names the request in its messages; None where that is not known."""

    @property
    def sender_request(self) -> Optional[int]:
        """Of a message that has arrived and that its sender waits with: its sender's request, as ``library_request``
        names it there; None where the message names none."""

    @property
    def started_by(self) -> List[Dict[str, Any]]:
        """As ``CallRequest.started_by``; of an operation of a blocking call empty. Members: ``function``, ``file``,
        ``line``, ``caller``, ``request``, ``root``, ``certain``, ``how``."""

    @property
    def extra_text(self) -> List[str]:
        """Further facts; in words in the JSON."""

    @property
    def unknown(self) -> Dict[str, str]:
        """Why facts are None that this MPI or its transport does not keep, by their names."""

    @property
    def evidence(self) -> Optional[str]:
        """How the facts were found and checked, where they do not stand in a list of the library's own."""

    # By hand:

    def to_dict(self) -> Dict[str, Any]:
        """The operation as the JSON has it: addresses are texts in hex."""
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

@final
class Queue:
    """One queue: a sequence of operations, in the order in which MPI would match them, and whether it could be read."""

    # Made by tools/make-views.

    @property
    def state(self) -> str:
        """Whether it could be read. Words: ``ok``, ``no_information``, ``error``."""

    @property
    def detail(self) -> Optional[str]:
        """A sentence for any other state than ok."""

    @property
    def unordered(self) -> int:
        """How many of the operations stand in no known order among those of the same peer."""

    @property
    def dropped(self) -> int:
        """How many requests or entries were found of which it could not be told what they are, so that they are not
        among the operations. Such a queue is not whole, whatever its state says."""

    # By hand:

    @property
    def operations(self) -> Queue:
        """The queue itself, which is a sequence of its operations."""

    def _repr_html_(self) -> str: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Operation: ...
    def __iter__(self) -> Iterator[Operation]: ...
    def __bool__(self) -> bool:
        """Whether it holds an operation. Raises NativeError (kind ``no_information``) where that is not known: a queue that
        cannot be read is not empty."""
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

@final
class Communicator:
    """One communicator as one process knows it."""

    # Made by tools/make-views.

    @property
    def name(self) -> str:
        """Its name as the MPI library holds it, which the program may have set or the library generated; a text of
        ours in angle brackets where it has none."""

    @property
    def name_set(self) -> Optional[bool]:
        """Whether the program or the standard set the name, not the library; None where that is not known."""

    @property
    def unique_id(self) -> int:
        """A number that names the communicator within its process."""

    @property
    def context_id(self) -> Optional[str]:
        """The MPI library's own number of it, as text: the same on all members where the library has such a thing."""

    @property
    def handle(self) -> Optional[str]:
        """The MPI_Comm handle as the program has it, in hex: for Open MPI the address of the communicator object."""

    @property
    def local_rank(self) -> Optional[int]:
        """Rank of this process in the communicator."""

    @property
    def size(self) -> Optional[int]:
        """Size of the (local) group."""

    @property
    def group(self) -> Optional[List[Optional[int]]]:
        """World ranks of the local group in rank order; an element is None where that process's world rank is not
        known."""

    @property
    def remote_group(self) -> Optional[List[Optional[int]]]:
        """World ranks of the remote group of an intercommunicator; None for an intracommunicator."""

    @property
    def elsewhere(self) -> List[Dict[str, Any]]:
        """Members of the groups that are of other worlds, by group and rank. Members: ``remote``, ``local_rank``,
        ``count``, ``world_key``, ``rank``."""

    @property
    def traffic(self) -> List[Dict[str, Any]]:
        """How many messages went to and came from members, where the library counts them; members without any are
        left out. Members: ``local_rank``, ``within_local_group``, ``sent``, ``arrived``, ``modulus``."""

    @property
    def traffic_complete(self) -> bool:
        """Whether ``traffic`` tells of all members: one that it lacks was sent nothing, and nothing came from it."""

    @property
    def next_sequence(self) -> Optional[int]:
        """The number that the next non-blocking collective of this process on it will have; None where the library
        does not count them. Members that have begun the same ones have the same. Constructors of communicators
        count too."""

    @property
    def inactive(self) -> List[Dict[str, Any]]:
        """Persistent requests that are not started, or whose last run was completed, as they would start: what they
        send and receive nobody will, unless they are started. Members: ``status``, ``desired_local_rank``,
        ``desired_global_rank``, ``any_source``, ``tag_wild``, ``desired_tag``, ``desired_length``,
        ``system_buffer``, ``buffer``, ``actual_local_rank``, ``actual_global_rank``, ``actual_tag``,
        ``actual_length``, ``internal``, ``persistent``, ``call``, ``datatype``, ``count``, ``request``,
        ``library_request``, ``sender_request``, ``started_by``, ``extra_text``, ``unknown``, ``evidence``."""

    # By hand:

    @property
    def pending_sends(self) -> Queue:
        """Sends that have not completed."""

    @property
    def pending_receives(self) -> Queue:
        """Receives that have not completed, in the order in which MPI would match them."""

    @property
    def unexpected_messages(self) -> Queue:
        """Messages that have arrived and that no receive has asked for, in matching order."""
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

@final
class Process:
    """One process: its MPI, where its threads are, and its communicators."""

    # Made by tools/make-views.

    @property
    def rank(self) -> Optional[int]:
        """Rank in MPI_COMM_WORLD; None where it is not known."""

    @property
    def world_size(self) -> Optional[int]:
        """Size of MPI_COMM_WORLD; None where it is not known."""

    @property
    def world_key(self) -> Optional[str]:
        """What the MPI library calls its world; None where nothing tells it from others."""

    @property
    def parent_world_key(self) -> Optional[str]:
        """What the MPI library calls the world that spawned it; None where none did, or it is not known."""

    @property
    def world(self) -> Optional[int]:
        """Number of its world in ``Snapshot.worlds``; None where there is but one."""

    @property
    def universe_rank(self) -> Optional[int]:
        """Its place among the processes of all worlds; None where there is but one world, or it is not known."""

    @property
    def pid(self) -> Optional[int]:
        """Process id on its host."""

    @property
    def captured_at(self) -> Optional[str]:
        """When it was stopped to be read, RFC 3339 in UTC; None where only the snapshot's time is known."""

    @property
    def host(self) -> Optional[str]:
        """Name of the host; None where the target cannot tell."""

    @property
    def executable(self) -> Optional[str]:
        """Path of the executable."""

    @property
    def mpi(self) -> Optional[Dict[str, Any]]:
        """The MPI library; None where none was found. Members: ``implementation``, ``version``, ``library``,
        ``build_id``, ``transport``."""

    @property
    def source(self) -> Optional[Dict[str, Any]]:
        """How the facts were obtained. Members: ``kind``, ``plugin``, ``layouts``, ``via``."""

    @property
    def stage(self) -> Optional[str]:
        """How far it is with MPI; None where that is not known. Words: ``not_initialized``, ``initialized``,
        ``finalizing``, ``finalized``, ``ended``."""

    @property
    def state(self) -> Optional[str]:
        """What the kernel says of it: ``running``, ``sleeping``, ``stopped``, ``frozen`` (by its cgroup),
        ``zombie``, ``ended``; None where that is not known."""

    @property
    def tcp(self) -> Optional[Dict[str, Any]]:
        """What the kernel holds for its TCP connections, of a live process of this machine, and in what is recorded
        then; of others only why nothing is known. None in what earlier versions have written. Members: ``open``,
        ``unread_bytes``, ``unacknowledged_bytes``, ``reason``."""

    @property
    def calls(self) -> List[Dict[str, Any]]:
        """The threads that are inside MPI. Members: ``thread``, ``function``, ``file``, ``line``, ``offset``,
        ``caller``, ``through``, ``arguments``, ``arguments_unknown``, ``communicator``, ``window``, ``group``,
        ``requests``, ``fingerprint``."""

    @property
    def history(self) -> Optional[Dict[str, Any]]:
        """What the flight recorder keeps; None where the process runs without it, or what it keeps could not be
        read. Members: ``threads``, ``requests``, ``communicators``, ``lost_calls``, ``lost_requests``,
        ``lost_communicators``, ``lost_messages``, ``world_rank``, ``world_size``, ``bypassed``, ``forked_from``."""

    @property
    def outside(self) -> List[Dict[str, Any]]:
        """Where the other threads stand. Members: ``thread``, ``function``, ``caller``, ``file``, ``line``,
        ``offset``, ``fingerprint``, ``main``, ``complete``, ``application``, ``start_image``, ``through``,
        ``system_call``."""

    @property
    def stacks(self) -> List[Dict[str, Any]]:
        """The stacks of its threads, where they were asked for: of each only the thread and its frames. Members:
        ``thread``, ``complete``, ``frames``, ``arguments``, ``arguments_unknown``, ``fingerprint``,
        ``source_calls``, ``main``, ``kernel_thread``, ``system_call``, ``unwinding``, ``caught``."""

    @property
    def exceptions(self) -> List[Dict[str, Any]]:
        """Exceptions: those that threads handle just now, and the one that ended a Python program; signals whose
        handlers run, and who ended the program. Members: ``name``, ``state``, ``thread``, ``function``, ``file``,
        ``line``, ``within``, ``handler``."""

    @property
    def python_ended(self) -> bool:
        """Whether Python has ended in it (Py_Finalize): then nothing is known any more of an exception that ended
        its program."""

    @property
    def senders(self) -> List[Dict[str, Any]]:
        """Calls in the source of the functions on its stacks that may have sent messages before. Members:
        ``function``, ``file``, ``line``, ``caller``, ``dest``, ``tag``, ``communicator``, ``elsewhere``."""

    @property
    def earlier_collectives(self) -> List[Dict[str, Any]]:
        """Calls in the source of the functions on its stack that may have started non-blocking collectives before.
        Members: ``way``, ``first``, ``function``, ``file``, ``line``, ``caller``, ``communicator``, ``root``."""

    @property
    def later_sends(self) -> List[Dict[str, Any]]:
        """Calls in the source of the functions on its stacks that may send messages yet. Members: ``function``,
        ``file``, ``line``, ``caller``, ``dest``, ``tag``, ``communicator``, ``elsewhere``."""

    @property
    def later_collectives(self) -> Optional[List[str]]:
        """Functions of collectives that its thread may come to yet, by the source of the functions on its stack,
        MPI_Finalize among them; None: not known."""

    @property
    def all_threads(self) -> Optional[bool]:
        """Whether ``calls`` and ``outside`` are all threads, each seen down to its end; None where that is not
        known. Only then does a thread that is not in ``calls`` stand outside MPI for sure."""

    @property
    def windows(self) -> List[Dict[str, Any]]:
        """The windows that its calls are on. Members: ``handle``, ``name``, ``communicator``, ``group``, ``epoch``,
        ``lock_all``, ``locks``, ``started``, ``posted``, ``unknown``."""

    @property
    def handles(self) -> List[HandleListDict]:
        """The handles that were asked for: a list for each kind. Empty in a snapshot of queues. Members: ``kind``,
        ``complete``, ``detail``, ``handles``."""

    @property
    def spawned(self) -> List[Dict[str, Any]]:
        """Processes that this one spawned or connected to, as its plug-in tells (MPI-2). Members: ``pid``, ``host``,
        ``executable``."""

    @property
    def spawn_breakpoint(self) -> Optional[str]:
        """The function in which a debugger is to stop to see processes that are spawned, as its plug-in tells."""

    @property
    def notes(self) -> List[str]:
        """Facts in words that have no place elsewhere, such as messages for a communicator that does not exist yet."""

    @property
    def problems(self) -> List[str]:
        """What could not be read of this process, in sentences."""

    # By hand:

    @property
    def communicators(self) -> List[Communicator]:
        """The communicators that the process knows."""

    def communicator(self, name: str) -> Communicator:
        """The communicator of that name; KeyError where there is none, or more than one."""
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

@final
class Digests:
    """What the agents of a job's nodes have sent."""

    def __new__(cls) -> Digests: ...
    def read(self, sender: str, packed: bytes, longest: int) -> Snapshot:
        """The snapshot of the next digest of a sender, which is packed with zlib and has at most ``longest`` bytes.

        Other Python threads run meanwhile, and may read those of other senders. Raises ValueError where it is none, is
        damaged, says more than one node has to say, or one before it is missing: nothing more can be read of this sender
        then.
        """

@final
class Snapshot:
    """All that was read at one time."""

    # Made by tools/make-views.

    @property
    def captured_at(self) -> Optional[str]:
        """When it was taken, RFC 3339 in UTC."""

    @property
    def worlds(self) -> List[Dict[str, Any]]:
        """The worlds of the processes, by number; empty where there is but one. Members: ``number``, ``key``,
        ``name``, ``size``, ``first``, ``parent``."""

    @property
    def notes(self) -> List[str]:
        """What to know of the whole, in sentences: how far apart in time its processes were read."""

    @property
    def problems(self) -> List[str]:
        """What could not be read at all, in sentences."""

    # By hand:

    @property
    def processes(self) -> List[Process]:
        """The processes, by world rank where that is known, then by pid."""

    def __new__(cls) -> Snapshot: ...
    def rank(self, rank: int) -> Process:
        """The process of that rank in MPI_COMM_WORLD; KeyError where it was not read.

        With several worlds, in each of which there is such a rank: the process of that place in the universe of all, of
        which the first world is the beginning (``Process.universe_rank``).
        """

    @staticmethod
    def from_json(text: str) -> Snapshot:
        """Raises ValueError where the text is not of the schema ``mpi-queues/1``, or takes far more memory than a text of its
        length lets expect."""

    @staticmethod
    def from_packed(packed: bytes, longest: int) -> Snapshot:
        """The same of JSON that is packed with zlib; ValueError as well where it is damaged, or longer than ``longest``."""

    def with_processes(self, other: Snapshot, note: str) -> Snapshot:
        """With the processes of another one instead of its own, and a note."""

    @staticmethod
    def merged(
        snapshots: Sequence[Snapshot],
        problems: Sequence[str] = ...,
        *,
        worlds: Sequence[Tuple[int, Optional[str], Optional[int], Optional[int], Optional[int], Sequence[int]]] = ...,
        notes: Sequence[str] = ...,
    ) -> Snapshot:
        """One snapshot of many, processes ordered by rank, then pid; those of several worlds by these first, and numbered
        through.

        Args:
            worlds: those of a job: number, name, size, place of its rank 0, number of its parent, pids of its processes
                here. Worlds that are not among them, or all without any, are told apart by what the MPI calls them.
            notes: what to know of the whole, in sentences.
        """

    def identities(self) -> List[Tuple[Optional[int], Optional[int], Optional[str], Optional[str], Optional[int]]]:
        """Of each process its rank in MPI_COMM_WORLD, the size of that, what the MPI library calls it, host, process id."""

    def extent(self) -> Tuple[int, Optional[int]]:
        """How many processes it has, and the largest size of a world that one of them tells."""

    def world_keys(self) -> Set[str]:
        """What the MPI library calls the worlds of its processes."""

    def by_host(self) -> List[Tuple[str, List[int]]]:
        """The process ids of its processes by host, of those that have both."""

    def rest(self, ranks: AbstractSet[int], other: Snapshot) -> Optional[Snapshot]:
        """Those of its processes whose ranks are not among these, and that another snapshot does not have; None where
        there are none."""

    @staticmethod
    def absent(snapshots: Sequence[Snapshot], most: int) -> Tuple[List[int], int]:
        """The ranks of MPI_COMM_WORLD of which no snapshot tells, and how many there are in all.

        They are as most say; there are none where these are more than ``most``, or ranks of several worlds.
        """

    def outlive(self) -> None:
        """Its memory is given back when the process ends, not before: of a job with very many ranks that takes long."""

    def with_problems(self) -> List[Process]:
        """The processes of which something could not be read, or whose handles may say so."""

    def with_exceptions(self) -> List[Process]:
        """The processes that have exceptions of Python."""

    def alike(self, ranks: AbstractSet[int], *, others: bool, arguments: bool) -> List[Tuple[Process, List[int], int]]:
        """Processes at the same place together: the first of them, their ranks as findings have them, how many have none.

        Args:
            ranks: of whom; with ``others`` of all but these.
            arguments: whether their calls were given the same, too.
        """

    def placed(
        self,
        pid: int,
        *,
        rank: Optional[int],
        world_size: Optional[int],
        captured_at: Optional[str],
        state: Optional[str] = None,
    ) -> Snapshot:
        """With what is known of a process from outside: its rank and the size of its world where the process did not tell
        them, when it was stopped (RFC 3339 in UTC), and what the kernel said of it before (``running``, ``sleeping``)."""

    def filtered(self, *, comm: Optional[str] = None, rank: Optional[int] = None, internal: bool = True) -> Snapshot:
        """Only the communicators of that name, the process of that rank; without internal operations if asked."""

    def only(self, pids: Sequence[Union[int, Tuple[str, int], Tuple[str, List[int]]]]) -> Snapshot:
        """Only the processes with these process ids, or hosts and one or several process ids, without a diagnosis."""

    def diagnose(
        self,
        earlier: Optional[Snapshot] = None,
        *,
        interval_ms: Optional[int] = None,
        moving: Sequence[Union[int, Tuple[str, int]]] = ...,
        unseen: Sequence[Union[int, Tuple[str, int]]] = ...,
        keep: bool = False,
        first: Optional[Diagnosis] = None,
    ) -> Diagnosis:
        """Why it is stuck: who waits for whom, and what does not fit.

        Args:
            earlier: another snapshot of the same job, read before this one. With it is told what moved, and a deadlock is
                certain where one look leaves open whether messages are on their way.
            interval_ms: for how long the job ran between the two, in milliseconds; None where that is not known.
            moving: process ids, or hosts and process ids, of those whose messages were seen to go meanwhile: they have
                moved, also where both snapshots are equal.
            unseen: the same of those whose messages may have gone where nobody saw them: that they look the same proves
                nothing where their MPI counts no messages.
            keep: a second look is to come: what was worked out is kept in the diagnosis, which needs memory.
            first: the diagnosis of the first of two looks, made with ``keep``: where nothing has changed since, it is not worked
                out again. What is found is the same without it.

        Other Python threads run meanwhile. Never fails on account of what was read: what is not known limits it.
        """

    def stacks(self, *, threads: bool = False, internal: bool = False, rank: Optional[int] = None) -> StackTree:
        """The stacks of its processes as one tree, as far as they were read (``Request.stacks``): of their main threads, or with
        ``threads`` of all but those of the MPI library and its helpers. Frames inside MPI, of what wraps MPI, of interpreters and
        before ``main`` are folded away unless ``internal``. ``rank``: of that one only."""

    @property
    def diagnosis(self) -> Optional[Diagnosis]:
        """The diagnosis that came with it in its JSON; None where nobody has looked."""

    def report(self, path: Union[str, os.PathLike[str]], *, source: bool = True) -> None:
        """Writes a report of its diagnosis to look at: ``.html`` is the whole of it, ``.svg`` and ``.dot`` are who waits for whom.

        Args:
            path: where it goes.
            source: whether lines of the program's source around the calls of the cause are quoted, where it is here.

        Raises:
            UsageError: where the name has another end.
            UserError: where it cannot be written.
        """

    def to_json(self, *, indent: Optional[int] = None) -> str: ...
    def write_json(self, write: Callable[[str], Any], *, indent: Optional[int] = None) -> None:
        """The JSON in pieces of about 64 KiB, so that a large snapshot needs no second copy in memory."""
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

@final
class Finding:
    """One thing that was found."""

    # Made by tools/make-views.

    @property
    def kind(self) -> str:
        """What kind of thing."""

    @property
    def summary(self) -> str:
        """One sentence that names ranks, and what is wrong; where that is not certain it begins with "perhaps"."""

    @property
    def ranks(self) -> List[int]:
        """The ranks it is about, as ``Snapshot.rank`` takes them; of a cycle in the order in which they wait for one
        another, else ascending."""

    @property
    def calls(self) -> List[Dict[str, Any]]:
        """Where these stand; for many ranks at the same place some of them. Members: ``rank``, ``thread``,
        ``function``, ``file``, ``line``, ``offset``, ``caller``, ``through``, ``arguments``,
        ``arguments_unknown``, ``communicator``, ``window``, ``group``, ``requests``, ``fingerprint``,
        ``waits_for``."""

    @property
    def started_by(self) -> List[Dict[str, Any]]:
        """Calls that started the operations, or sent the messages, that it is about; of one operation several where
        none is certain. Members: ``rank``, ``function``, ``file``, ``line``, ``caller``, ``request``, ``root``,
        ``certain``, ``how``."""

    @property
    def odd(self) -> List[Dict[str, Any]]:
        """Of an odd rank: what it has that nearly all others have not, the strongest first."""

    @property
    def exceptions(self) -> List[Dict[str, Any]]:
        """Exceptions, signals and ends of programs of the ranks that others wait for, which may be why they wait.
        Members: ``ranks``, ``name``, ``state``, ``thread``, ``function``, ``file``, ``line``, ``within``,
        ``handler``."""

    @property
    def blamed(self) -> List[Dict[str, Any]]:
        """The calls to look at or to change, those most to blame first; of many places some. Members: ``ranks``,
        ``function``, ``file``, ``line``, ``caller``, ``certain``."""

    @property
    def waiting(self) -> List[int]:
        """Of the finding that is told first: the ranks that can never go on because of it, directly or through
        others, beside those that it is about."""

    @property
    def consequence(self) -> bool:
        """Whether it follows from the finding that is told first: who mends that one need not mind this one."""

    @property
    def certain(self) -> bool:
        """Whether it follows from what was read; else it is possible, and ``evidence`` says what is not known."""

    @property
    def evidence(self) -> List[str]:
        """What it follows from, in sentences, the strongest first; and what is not known where it is not certain."""

    @property
    def advice(self) -> Optional[str]:
        """What to change, and where, in a sentence or two; None only in a JSON of an earlier version."""

    # By hand:

    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

@final
class Diagnosis:
    """Why a job is stuck: a sequence of findings, the causes first. ``str()`` gives it as text for people."""

    # Made by tools/make-views.

    @property
    def state(self) -> str:
        """What is said of the whole. Words: ``deadlock``, ``suspect``, ``waiting``, ``running``, ``unknown``."""

    @property
    def headline(self) -> str:
        """What is said of the whole, in a sentence."""

    @property
    def limits(self) -> List[str]:
        """What limits it, in sentences: ranks that could not be read, communicators that could not be told apart,
        queues without information."""

    @property
    def limited_by(self) -> List[Dict[str, Any]]:
        """Of what kind the limits are, in the same order; empty in an older JSON. Members: ``kind``, ``ranks``."""

    @property
    def interval_ms(self) -> Optional[int]:
        """Time between two looks in milliseconds; None for a single one, or where it is not known."""

    @property
    def live_lock(self) -> List[int]:
        """The ranks that may be in a live lock: messages went between them, and nothing else of the job changed."""

    @property
    def movement(self) -> List[Dict[str, Any]]:
        """How ranks moved between two looks. Members: ``rank``, ``state``, ``how``."""

    # By hand:

    @property
    def findings(self) -> List[Finding]:
        """What was found, the causes first."""

    @property
    def headline_finding(self) -> Optional[int]:
        """The place of the finding whose claim the headline tells; None where it tells none."""

    def report(self, path: Union[str, os.PathLike[str]], *, source: bool = True) -> None:
        """As :meth:`Snapshot.report`, of this diagnosis."""

    def overview(self) -> Tuple[str, str]:
        """What a report shows, as JSON: the wait-for graph with ranks of the same fate as one node, and tables of ranks and
        messages, both bounded (``crates/overview``)."""

    def conclusions(self) -> str:
        """The JSON of the snapshot with this diagnosis, without the processes."""

    def _repr_html_(self) -> str: ...
    def moved_alike(self) -> List[Tuple[str, List[str], List[int]]]:
        """``movement``, those that moved alike together: how far, how, their ranks."""

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot that it is of."""

    def to_json(self, *, indent: Optional[int] = None) -> str:
        """The JSON of the snapshot with ``diagnosis`` and ``verdict``."""

    def write_json(self, write: Callable[[str], Any], *, indent: Optional[int] = None) -> None:
        """The same in pieces of about 64 KiB."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Finding: ...
    def __iter__(self) -> Iterator[Finding]: ...
    def __bool__(self) -> bool:
        """Always true: a diagnosis without findings is one, too."""
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

@final
class StackTree:
    """The stacks of many processes as one tree: a sequence of nodes, each after the one that called it. ``str()`` gives it as
    text for people."""

    # Made by tools/make-views.

    @property
    def all_threads(self) -> bool:
        """Whether all threads are in it, not the main ones only. Threads of the MPI library and its helpers are not,
        unless ``internal``."""

    @property
    def internal(self) -> bool:
        """Whether frames are there that else are folded away: inside MPI, of what wraps MPI, of interpreters, before
        ``main``."""

    @property
    def not_read(self) -> Dict[str, Any]:
        """Those of which no stack could be read. Members: ``ranks``, ``pids``, ``unnamed``."""

    @property
    def incomplete(self) -> Dict[str, Any]:
        """Those with a stack that was not seen to its outermost frame. Members: ``ranks``, ``pids``, ``unnamed``."""

    @property
    def cut(self) -> Dict[str, Any]:
        """Those with a stack whose innermost frames are left out, because the tree would be too large. Members:
        ``ranks``, ``pids``, ``unnamed``."""

    @property
    def waits(self) -> List[Dict[str, Any]]:
        """What threads of the tree wait for outside MPI, and who has it. Members: ``ranks``, ``pids``, ``unnamed``,
        ``what``."""

    # By hand:

    @property
    def ranks(self) -> str:
        """Ranks whose stacks are in it, in the notation of node sets: ``0-126,128``."""

    @property
    def pids(self) -> str:
        """Process ids of those whose rank is not known, in the same notation."""

    @property
    def unnamed(self) -> int:
        """How many there are of which neither is known."""

    def rank_list(self) -> List[int]:
        """The ranks, one by one."""

    @property
    def nodes(self) -> List[StackNode]:
        """Each frame after the one that called it, and before what that called further; where several are called by one, the
        one that most processes pass through first."""

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot that it is of."""

    def to_json(self, *, indent: Optional[int] = None) -> str:
        """The JSON of the snapshot with ``stacks``."""

    def write_json(self, write: Callable[[str], Any], *, indent: Optional[int] = None) -> None:
        """The same in pieces of about 64 KiB."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> StackNode: ...
    def __iter__(self) -> Iterator[StackNode]: ...
    def __bool__(self) -> bool:
        """Always true: a tree without nodes is one, too."""
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

@final
class StackNode:
    """A frame that stacks have in common, together with all frames that are further out."""

    # Made by tools/make-views.

    @property
    def depth(self) -> int:
        """How many frames of the tree are further out."""

    @property
    def function(self) -> Optional[str]:
        """Name of the function without parameters; of MPI's as the application calls it. None where it is not known."""

    @property
    def file(self) -> Optional[str]:
        """Source file as the compiler was given it, where debug information says it; of MPI's functions None."""

    @property
    def line(self) -> Optional[int]:
        """Line in it at which the stacks stand."""

    @property
    def language(self) -> Optional[str]:
        """The language of code that an interpreter runs; None: compiled code. Words: ``python``."""

    @property
    def image(self) -> Optional[str]:
        """The file that the code is from, where the function is not known."""

    @property
    def mpi(self) -> bool:
        """Whether it is a function of MPI; frames inside it are folded away."""

    @property
    def incomplete(self) -> bool:
        """Whether what called it is not known: the stacks were not seen to their end."""

    @property
    def left_out(self) -> int:
        """How many frames between it and the one that called it are left out, of stacks that are too deep."""

    @property
    def repeats(self) -> Optional[Dict[str, Any]]:
        """Where stacks have the frame several times in a row (a function that calls itself): how often. Members:
        ``least``, ``most``."""

    @property
    def absent(self) -> str:
        """Ranks of the tree whose stacks do not pass through it, where these are no more than those that do."""

    @property
    def ends(self) -> Dict[str, Any]:
        """Whose stacks end here: it is their innermost frame that is not folded away. Members: ``ranks``, ``pids``,
        ``unnamed``."""

    @property
    def threads(self) -> List[Dict[str, Any]]:
        """The threads whose stacks pass through it, by their numbers; empty where only main threads are in the tree.
        Members: ``thread``, ``ranks``, ``pids``, ``unnamed``."""

    # By hand:

    @property
    def ranks(self) -> str:
        """Ranks whose stacks pass through it, in the notation of node sets: ``0-126,128``."""

    @property
    def pids(self) -> str:
        """Process ids of those whose rank is not known, in the same notation."""

    @property
    def unnamed(self) -> int:
        """How many there are of which neither is known."""

    def rank_list(self) -> List[int]:
        """The ranks, one by one."""

    @property
    def parent(self) -> Optional[StackNode]:
        """The frame that called it; None: it is outermost."""

    @property
    def children(self) -> List[StackNode]:
        """The frames that it called, where most are first."""

    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

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
    device: Optional[str] = None,
) -> str:
    """A profile from the DWARF of object files, executables or libraries (an empty ``types`` takes the readers' list)."""

def process_table(
    process: Union[int, DebuggedProcess], candidates: Mapping[int, Optional[int]] = ...
) -> ProcessTableDict:
    """What a launcher says by the MPIR interface: its table of processes, and the variables around it.

    ``process`` is a process id of this machine, whose memory is then read without stopping it, or a debugger's process.
    ``candidates`` are living descendants of the launcher with their rank in MPI_COMM_WORLD where their environment tells it:
    by these the table of a launcher that is stripped of its symbols is found in its memory, and verified.

    A process without the interface, or with tables that cannot be read, is no error: see ``found`` and ``problems``.

    Raises NativeError, kinds: ``gone`` (there is no such process, or it ended meanwhile), ``denied`` (it may not be read),
    ``fault``.
    """

def slurm_job(pid: int) -> Optional[str]:
    """The number of the job of Slurm that a process has started; None where it is no srun, or does not say so."""

def printable(text: str, *, lines: bool = False) -> str:
    """Text in which characters that would steer a terminal or hide what follows are escapes, also newlines and tabs; with
    ``lines`` all but these. Bytes that were no UTF-8 when Python read them (surrogates) are shown as these bytes."""

def printable_json(text: str) -> str:
    """A JSON text with such characters as its own escapes: the same JSON. Newlines between its strings stay."""

def c_name(function: str) -> str:
    """The name in C of a function of MPI, in whichever language it was called: ``MPI_Recv`` of ``mpi_recv__``."""

def recording_start(info: str) -> bytes:
    """What stands in a recording before its first process; ``info`` is JSON about who made it."""

def layered(
    sizes: Sequence[Tuple[float, float]], edges: Sequence[Tuple[int, int]]
) -> Tuple[List[Tuple[float, float]], float, float]:
    """Lays out nodes of these widths and heights in layers, edges downwards: the middle of each, and the width and the height of
    the whole. ValueError where there are too many, or an edge leads to a node that is not there."""

def recording_end(processes: int) -> bytes:
    """What stands in a recording after its last process."""

def value_of_c(expression: str, scope: Scope) -> Union[int, Typed]:
    """The value of an expression of C or C++ that a user typed; it may name registers.

    Raises Unknown where it has none.
    """

def open_regular(
    path: Union[str, bytes, os.PathLike[str]], reader: Optional[Tuple[int, int, Sequence[int]]] = None
) -> int:
    """Opens a file that somebody else named for reading; returns its descriptor. It waits for nobody for long, and opens regular files
    alone: no FIFO, device, socket or directory, and nothing that the kernel makes up. ``reader`` is for whom: user, group
    and other groups; root opens for others only what they could open themselves. What is read of the descriptor may wait for
    its file system; :class:`RegularFile` does not.

    Raises OSError, whose ``strerror`` says what the path names.
    """

@final
class RegularFile:
    """A regular file that is open for reading. Nothing of it is waited for for long: where its file system does not
    answer, that is an error (``ETIMEDOUT``)."""

    def __new__(
        cls,
        path: Union[str, bytes, os.PathLike[str]],
        reader: Optional[Tuple[int, int, Sequence[int]]] = None,
    ) -> RegularFile:
        """Opens it as :func:`open_regular` does."""

    def read_at(self, offset: int, length: int) -> bytes:
        """At most so many bytes at a place, and at most a mebibyte; none at its end."""

    @property
    def about(self) -> Tuple[int, int, int, int, int, int, int]:
        """As :func:`about_file`, when it was opened."""

def about_file(path: Union[str, bytes, os.PathLike[str]]) -> Tuple[int, int, int, int, int, int, int]:
    """What a path leads to: the numbers of its file system and of itself, its length, when it was written last in
    nanoseconds since 1970, its mode, its user and its group.

    Raises OSError, also where its file system does not answer.
    """

def real_path(path: Union[str, bytes, os.PathLike[str]]) -> str:
    """The path of what a path leads to, without links.

    Raises OSError, also where its file system does not answer.
    """

def unanswered() -> List[str]:
    """What is not read because file systems do not answer, a sentence for each of these."""

def answered_again() -> int:
    """How often a file system that did not answer has answered again."""

def handle_kinds() -> List[Tuple[str, str, str]]:
    """The kinds of MPI's handles in alphabetical order: the word, the type in C, and what one is called in a sentence."""

def irregular(path: Union[str, os.PathLike[str]]) -> Optional[str]:
    """What a path names that is no regular file, in words such as ``a FIFO``; None for a regular file, and for nothing."""

def is_mpi_library(name: str) -> bool:
    """Whether a file name, without its folder, is that of an MPI's library or of its bindings: ``libmpi.so.40``."""

def mpi2dd(pid: int, hosts: Sequence[str] = ...) -> Optional[Mpi2ddDict]:
    """What all directories of a job tell that can be reached from a process of this machine by the MPI2DD interface; None
    where the process has no ``MPI2DD_info``. Nothing is stopped. ``hosts`` are names and addresses of this machine.

    Raises NativeError, kinds: ``gone``, ``fault`` (it cannot be read), ``mpi2dd`` (its ``MPI2DD_info`` is not what it must be).
    """
