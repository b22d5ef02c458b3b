"""Ranks do not agree who is the root of a broadcast that is large enough to be waited for."""

import array

from hanging import MPI, comm, rank, ready

data = array.array("d", [0.0]) * 1000000
ready()
if rank == 0:
    comm.Bcast([data, MPI.DOUBLE], root=1)  # stuck: 0 MPI_Bcast <module>
else:
    comm.Bcast([data, MPI.DOUBLE], root=0)  # stuck: 1 MPI_Bcast <module>
