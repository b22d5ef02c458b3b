"""Rank 0 is in a reduction, the others in a barrier."""

import array

from hanging import MPI, comm, rank, ready


def norm(values):
    total = array.array("d", values)
    comm.Allreduce(MPI.IN_PLACE, [total, MPI.DOUBLE], op=MPI.SUM)  # stuck: 0 MPI_Allreduce norm
    return total


ready()
if rank == 0:
    norm([1.0, 2.0])
else:
    comm.Barrier()  # stuck: 1,2 MPI_Barrier <module>
