/* Rank 0 starts a reduction, the others a broadcast, as the same non-blocking collective.
 *
 * ranks: 4
 * verdict: deadlock
 * expect: collective mismatch ranks=0,1 lines=0:REDUCE,1:BCAST words="MPI_COMM_WORLD"
 * openmpi expect: collective mismatch ranks=0,1 lines=0:REDUCE,1:BCAST certain words="MPI_COMM_WORLD"
 * cause: collective mismatch lines=0:REDUCE,1:BCAST
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, value = 0, sum = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank != 0)
        MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, &request); /* @BCAST */
    else
        MPI_Ireduce(&value, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &request); /* @REDUCE */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
