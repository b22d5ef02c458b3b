"""A request that was started long before is waited for."""

from hanging import MPI, comm, rank, ready

buffer = bytearray(8)
request = comm.Irecv([buffer, MPI.BYTE], source=1 - rank, tag=41)


def finish(what):
    ready()
    what.Wait()  # stuck: 0,1 MPI_Wait finish


finish(request)
