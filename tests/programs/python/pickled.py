"""Objects are sent synchronously by pickle, with nobody who receives them."""

from hanging import comm, rank, ready


def gather_results(results):
    ready()
    if rank == 0:
        return [comm.recv(source=1, tag=tag) for tag in results]  # stuck: 0 MPI_Mprobe|MPI_Recv gather_results.<locals>.<listcomp>|gather_results
    comm.ssend({"rank": rank}, dest=0, tag=99)  # stuck: 1 MPI_Ssend gather_results


gather_results([31, 32])
