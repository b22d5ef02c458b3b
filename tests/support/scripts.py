"""Scripts of ``tests/programs/scripted.c``: a step is its name and its numbers, as that program reads them."""

from __future__ import annotations

from typing import List, NamedTuple, Tuple

SMALL, LARGE = 64, 1 << 20

#: Names of the communicators, as the program gives them.
NAMES = ("MPI_COMM_WORLD", "copy", "half", "reversed")
WORLD, COPY, HALF, REVERSED = range(4)
ANY, NOBODY = -1, -2

SYNCHRONISING = ("barrier", "allreduce", "allgather", "alltoall", "dup")
FROM_ROOT = ("bcast", "scatter")
TO_ROOT = ("reduce", "gather")
#: Those that some may leave before all have entered. A scan goes from lower ranks to higher ones.
ROOTED = (*FROM_ROOT, *TO_ROOT, "scan")
#: Those with a root, which stands behind the request's place.
NON_BLOCKING_FROM_ROOT = ("ibcast", "iscatter")
NON_BLOCKING_TO_ROOT = ("ireduce", "igather")
NON_BLOCKING_ROOTED = (*NON_BLOCKING_FROM_ROOT, *NON_BLOCKING_TO_ROOT)
#: Of the others a rank completes its own only when all have begun it.
NON_BLOCKING = ("ibarrier", "iallreduce", "iallgather", "ialltoall", *NON_BLOCKING_ROOTED)
SENDS = ("send", "ssend", "bsend", "isend", "issend", "psend")
#: Those that wait until the message is received, whatever its size.
SYNCHRONOUS = ("ssend", "issend")
RECEIVES = ("recv", "irecv", "precv", "probe", "mprobe", "until")
EXCHANGES = ("sendrecv", "replace")
OUTSIDE = ("sleep", "compute")
WAITS = ("wait", "waitall", "waitany", "waitsome", "poll")

#: What starts something, or makes what ``start`` starts, and which number of it is the request's place.
STARTS = {**dict.fromkeys(("isend", "issend", "irecv", "psend", "precv"), 4), **dict.fromkeys(NON_BLOCKING, 1)}

#: Who is outside MPI for longer than this, in seconds, is there for longer than anybody looks.
NAP = 9


class Step(NamedTuple):
    """One step of a script."""

    name: str
    numbers: Tuple[int, ...] = ()

    def __str__(self) -> str:
        return ",".join([self.name, *map(str, self.numbers)])


Script = List[Step]


def step(name: str, *numbers: int) -> Step:
    return Step(name, numbers)


def members(comm: int, rank: int, size: int) -> List[int]:
    """Ranks of the world in a communicator of a rank, by their ranks there."""
    if comm == HALF:
        return list(range(rank % 2, size, 2))
    return list(range(size))[::-1] if comm == REVERSED else list(range(size))


#: A communicator: its number, and which half.
Comm = Tuple[int, int]


def place(comm: int, rank: int) -> Comm:
    return comm, rank % 2 if comm == HALF else 0
