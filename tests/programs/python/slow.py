"""A correct program: rank 0 handles an exception in a generator and takes its time; the others wait for its message."""

import time

from hanging import MPI, comm, rank, ready

buffer = bytearray(8)


def parts():
    for text in ("1", "no number"):
        try:
            yield int(text)
        except ValueError:
            pass
        else:
            try:
                int("none")
            except ValueError:
                ready()
                time.sleep(600)


def work():
    return [2 * part for part in parts()]


if rank == 0:
    work()
    for other in range(1, comm.size):
        comm.Send([buffer, MPI.BYTE], dest=other, tag=3)
else:
    ready()
    comm.Recv([buffer, MPI.BYTE], source=0, tag=3)  # stuck: 1,2 MPI_Recv <module>
