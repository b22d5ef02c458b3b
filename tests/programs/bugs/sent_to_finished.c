/* Rank 1 sends rank 0 a result that rank 0 receives nowhere: it has finished.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: finished rank ranks=0,1 lines=1:WAIT
 * expect: unmatched send ranks=0,1
 * cause: finished rank | unmatched send lines=1:WAIT
 */
#include "common/diagnosed.h"

#define LENGTH 100000

int main(int argc, char **argv)
{
    static double result[LENGTH];
    MPI_Request request;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 1) {
        MPI_Isend(result, LENGTH, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE); /* @WAIT */
    }
    MPI_Finalize();
    return 0;
}
