"""Rank 0 raises an exception that nobody handles; Python's end calls MPI_Finalize, and rank 1 waits for rank 0."""

from hanging import MPI, comm, rank, ready


def check(value):
    ready()
    raise ValueError("not for others to read")  # raised: 0 ValueError check


def solve():
    if rank == 0:
        check(3)
    buffer = bytearray(8)
    ready()
    comm.Recv([buffer, MPI.BYTE], source=0, tag=4)  # stuck: 1 MPI_Recv solve


solve()
