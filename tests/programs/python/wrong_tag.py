"""Rank 1 sends with another tag than rank 0 receives with."""

from hanging import MPI, comm, rank, ready

buffer = bytearray(100000)


class Halo:
    def receive(self):
        ready(source=1, tag=7)
        comm.Recv([buffer, MPI.BYTE], source=1, tag=7)  # stuck: 0 MPI_Recv Halo.receive

    def send(self):
        ready(dest=0, tag=8)
        comm.Ssend([buffer, MPI.BYTE], dest=0, tag=8)  # stuck: 1 MPI_Ssend Halo.send


if rank == 0:
    Halo().receive()
else:
    Halo().send()
