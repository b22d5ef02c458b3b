"""Objects are sent synchronously by pickle, with nobody who receives them."""

from hanging import comm, rank, ready


def collect(tags):
    ready()
    if rank == 0:
        return [comm.recv(source=1, tag=tag) for tag in tags]  # stuck: 0 MPI_Mprobe collect.<locals>.<listcomp>|collect
    comm.ssend({"rank": rank}, dest=0, tag=99)  # stuck: 1 MPI_Ssend collect


collect([31, 32])
