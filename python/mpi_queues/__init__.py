"""Why is my MPI job stuck? Message queues of real MPI programs, from inside a debugger or the command line.

    >>> import mpi_queues
    >>> snapshot = mpi_queues.load("hang.mpirec")  # or attach(pid=…), open_core(core, exe)
    >>> for operation in snapshot.rank(1).communicator("halo").pending_receives:
    ...     print(operation.call, operation.desired_local_rank, operation.desired_tag, operation.desired_length)
    MPI_Irecv 2 20 8000
    >>> print(snapshot.diagnose().findings[0].summary)
    rank 2 sends tag 21 on "halo", rank 1 waits for tag 20

Lengths are in bytes, addresses are those in the process that was read, ranks are those of the communicator unless they
are called global: those are of MPI_COMM_WORLD.
"""

from typing import TYPE_CHECKING, Any, List

# The first, before what takes time to import.
from . import starting  # noqa: F401

if TYPE_CHECKING:
    from ._native import (
        Communicator,
        Diagnosis,
        Finding,
        NativeError,
        Operation,
        Process,
        Queue,
        Session,
        Snapshot,
        __version__,
    )
    from .api import attach, load, open_core
    from .errors import UsageError, UserError

__all__ = [
    "Communicator",
    "Diagnosis",
    "Finding",
    "NativeError",
    "Operation",
    "Process",
    "Queue",
    "Session",
    "Snapshot",
    "UsageError",
    "UserError",
    "__version__",
    "attach",
    "load",
    "open_core",
]


def __getattr__(name: str) -> Any:
    # Loaded when it is asked for: the process that keeps a job, which starts with each job, needs none of it.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _native, api, errors

    found = next(getattr(part, name) for part in (api, errors, _native) if hasattr(part, name))
    globals()[name] = found
    return found


def load_ipython_extension(shell: Any) -> None:
    """What IPython calls for ``%load_ext mpi_queues``."""
    from . import notebook

    notebook.load(shell)


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})
