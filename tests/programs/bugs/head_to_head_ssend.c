/* Both ranks send synchronously before they receive.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: deadlock ranks=0,1 lines=0:SEND,1:SEND certain
 * cause: deadlock lines=0:SEND,1:SEND
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    double mine = 1, theirs = 0;
    int rank, other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    diagnosed_ready();
    MPI_Ssend(&mine, 1, MPI_DOUBLE, other, 3, MPI_COMM_WORLD); /* @SEND */
    MPI_Recv(&theirs, 1, MPI_DOUBLE, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
