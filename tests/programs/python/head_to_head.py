"""Both ranks send first, and synchronously."""

from hanging import MPI, comm, rank, ready

other = 1 - rank


def swap(data):
    ready()
    comm.Ssend([data, MPI.BYTE], dest=other, tag=1)  # stuck: 0,1 MPI_Ssend swap
    comm.Recv([data, MPI.BYTE], source=other, tag=1)


swap(bytearray(16))
