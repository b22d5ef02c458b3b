"""Rank 0 raises an exception that nobody handles; what it asked for at its end calls MPI_Finalize, and rank 1 waits."""

import atexit

from hanging import MPI, comm, rank, ready

atexit.register(MPI.Finalize)


def check(value):
    ready()
    raise KeyError("not for others to read")  # raised: 0 KeyError check


if rank == 0:
    check(3)
buffer = bytearray(8)
ready()
comm.Recv([buffer, MPI.BYTE], source=0, tag=4)  # stuck: 1 MPI_Recv <module>
