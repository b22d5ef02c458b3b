"""Calls of mpi4py."""

import json
import os

from mpi4py import MPI

world = MPI.COMM_WORLD
copy = world.Dup()
half = world.Split(world.rank % 2, 0)
copy.Barrier()
told = copy.bcast({"some": "object"} if copy.rank == 1 else None, root=1)
buffer = bytearray(40)
requests = [copy.Irecv([buffer, 5, MPI.INT], source=0, tag=1017), world.Issend([buffer, 6, MPI.INT], dest=1, tag=1018)]
done = [copy.irecv(source=world.rank, tag=5), copy.isend("text", dest=world.rank, tag=5)]
MPI.Request.waitall(done)


def handle(of):
    """Those of MPICH are ints, which mpi4py extends by their sign."""
    value = MPI._handleof(of)
    return value & 0xFFFFFFFF if MPI._sizeof(of) == 4 else value


truth = {
    "open": [handle(one) for one in requests],
    "copy": handle(copy),
    "world": handle(world),
    "half": handle(half),
}
path = os.environ["MPIQ_TRUTH"] % world.rank
with open(path + ".new", "w") as file:
    json.dump(truth, file)
os.rename(path + ".new", path)
copy.Recv([buffer, 7, MPI.INT], source=0, tag=31999)
