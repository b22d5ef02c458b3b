/* A group of ranks disconnects from the rest by an early MPI_Finalize of rank 1, which then does other things for long. Rank 0
 * waits for its message.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: finished rank ranks=1 lines=0:RECV
 * cause: finished rank lines=0:RECV
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 0)
        MPI_Recv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @RECV */
    MPI_Finalize();
    sleep(1500);
    return 0;
}
