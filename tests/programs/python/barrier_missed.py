"""Rank 1 does not come to the barrier: it waits for a message."""

from hanging import comm, rank, ready


def step(number):
    ready()
    if rank == 1:
        comm.Probe(source=0, tag=number)  # stuck: 1 MPI_Probe step
    comm.Barrier()  # stuck: 0,2 MPI_Barrier step


def outer():
    for number in range(3, 4):
        step(number)


outer()
