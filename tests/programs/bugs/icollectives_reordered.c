/* Two non-blocking collectives of one communicator, which rank 1 starts in the other order; all wait for both at once.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: collective mismatch ranks=0,1
 * openmpi expect: collective mismatch ranks=0,1 lines=0:GATHER,1:FIRST certain
 * cause: collective mismatch lines=0:GATHER,1:FIRST
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, mine = 1, all[2] = {0}, sum;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 0) {
        MPI_Igather(&mine, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[0]); /* @GATHER */
        MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
    } else {
        MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]); /* @FIRST */
        MPI_Igather(&mine, 1, MPI_INT, all, 1, MPI_INT, 1, MPI_COMM_WORLD, &requests[1]);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return 0;
}
