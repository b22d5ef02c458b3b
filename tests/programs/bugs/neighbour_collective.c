/* On a ring topology: all exchange with both neighbours, but rank 2 waits for a number of rank 0 first, which rank 0 sends after
 * the exchange.
 *
 * ranks: 4
 * verdict: deadlock
 * expect: deadlock ranks=2 lines=2:RECV
 * expect: missing in collective ranks=2 lines=1:EXCHANGE,2:RECV,3:EXCHANGE certain words="MPI_Neighbor_allgather","ring"
 * cause: missing in collective lines=2:RECV
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, size, periodic = 1, value = 0, from[2];
    MPI_Comm ring;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    MPI_Comm_set_name(ring, "ring");
    MPI_Comm_rank(ring, &rank);
    diagnosed_ready();
    if (rank == 2)
        MPI_Recv(&value, 1, MPI_INT, 0, 5, ring, MPI_STATUS_IGNORE); /* @RECV */
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, from, 1, MPI_INT, ring); /* @EXCHANGE */
    MPI_Barrier(ring); /* @BARRIER */
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 2, 5, ring);
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}
