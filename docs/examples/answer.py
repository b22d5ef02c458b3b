"""Rank 0 reads what the others are to do, and hands it out."""

from mpi4py import MPI

comm = MPI.COMM_WORLD


def read(line):
    return int(line)


def hand_out(lines):
    for worker, line in enumerate(lines, 1):
        comm.send(read(line), dest=worker, tag=3)


if comm.rank == 0:
    try:
        hand_out(["12", "a dozen"])
    finally:
        comm.Barrier()
else:
    comm.recv(source=0, tag=3)
    comm.Barrier()
