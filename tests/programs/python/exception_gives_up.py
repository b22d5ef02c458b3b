"""Rank 0 handles an exception by giving up, and waits in MPI_Finalize; the others wait for its part of a collective."""

from hanging import MPI, comm, rank, ready


class Bad(Exception):
    pass


def read(name):
    if rank == 0:
        raise Bad(name)  # raised: 0 Bad read


def solve():
    try:
        read("input")
    except Bad:
        ready()
        MPI.Finalize()
    ready()
    comm.Barrier()  # stuck: 1,2 MPI_Barrier solve


solve()
