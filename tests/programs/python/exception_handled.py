"""Rank 0 handles an exception, and waits within the handler for something that rank 1 never sends."""

from hanging import MPI, comm, rank, ready

buffer = bytearray(8)


def parse(text):
    return int(text)  # raised: 0 ValueError parse


def recover():
    try:
        parse("no number")
    except ValueError:
        ready()
        comm.Recv([buffer, MPI.BYTE], source=1, tag=9)  # stuck: 0 MPI_Recv recover


if rank == 0:
    recover()
ready()
comm.Barrier()  # stuck: 1 MPI_Barrier <module>
