"""Receives within generators that others drive."""

from hanging import comm, rank, ready


def messages(source):
    while True:
        ready()
        yield comm.recv(source=source, tag=11)  # stuck: 0 MPI_Mprobe|MPI_Recv messages


def all_messages():
    yield from messages(1)


def consume():
    return sum(value for value in all_messages())


if rank == 0:
    consume()
ready()
comm.Barrier()  # stuck: 1 MPI_Barrier <module>
