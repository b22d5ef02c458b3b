"""Rank 0 handles an exception, and sleeps in the handler; rank 1 waits for its message."""

import time

from hanging import MPI, comm, rank, ready

buffer = bytearray(8)


def read():
    raise OSError("no input")  # raised: 0 OSError read


def recover():
    try:
        read()
    finally:
        ready()
        time.sleep(600)


if rank == 0:
    recover()
ready()
comm.Recv([buffer, MPI.BYTE], source=0, tag=6)  # stuck: 1 MPI_Recv <module>
