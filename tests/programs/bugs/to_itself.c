/* A list of exchanges that contains the rank itself: rank 2 sends synchronously to itself before it receives.
 *
 * ranks: 3
 * verdict: deadlock
 * expect: deadlock ranks=2 lines=2:SEND
 * cause: deadlock lines=2:SEND
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    const int partners[] = {1, 0, 2};
    int rank, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int partner = partners[rank];
    diagnosed_ready();
    if (rank < partner)
        MPI_Recv(&value, 1, MPI_INT, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Ssend(&rank, 1, MPI_INT, partner, 1, MPI_COMM_WORLD); /* @SEND */
    if (rank >= partner)
        MPI_Recv(&value, 1, MPI_INT, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD); /* @BARRIER */
    MPI_Finalize();
    return 0;
}
