/* Rank 0 waits for a report of rank 2 before the barrier, rank 2 reports after it.
 *
 * ranks: 3
 * verdict: deadlock
 * expect: deadlock ranks=0,2 lines=0:REPORT,2:BARRIER
 * cause: missing in collective | deadlock lines=0:REPORT,2:BARRIER
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, report = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 0)
        MPI_Recv(&report, 1, MPI_INT, 2, 60, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @REPORT */
    MPI_Barrier(MPI_COMM_WORLD); /* @BARRIER */
    if (rank == 2)
        MPI_Send(&report, 1, MPI_INT, 0, 60, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
