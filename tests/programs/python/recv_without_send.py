"""Rank 0 receives what nobody sends; the others wait for it in a barrier."""

from hanging import MPI, comm, rank, ready


def exchange(neighbour):
    buffer = bytearray(8)
    ready()
    comm.Recv([buffer, MPI.BYTE], source=neighbour, tag=5)  # stuck: 0 MPI_Recv exchange


if rank == 0:
    exchange(1)
else:
    ready()
comm.Barrier()  # stuck: 1,2 MPI_Barrier <module>
