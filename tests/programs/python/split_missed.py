"""Rank 1 does not call Split."""

from hanging import comm, rank, ready

ready()
if rank != 1:
    rows = comm.Split(color=0, key=rank)  # stuck: 0,2 MPI_Comm_split <module>
else:
    comm.Probe(source=0, tag=1)  # stuck: 1 MPI_Probe <module>
