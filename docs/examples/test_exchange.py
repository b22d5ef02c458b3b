from mpi4py import MPI

comm = MPI.COMM_WORLD


def test_two_ranks():
    assert comm.size == 2


def test_exchange():
    if comm.rank == 0:
        assert comm.recv(source=1, tag=7) == "halo"
    comm.barrier()
