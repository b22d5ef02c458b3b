/* Rank 0 asks for news of rank 1 and finishes without looking whether some have come; rank 1 waits for it in a barrier.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: finished rank ranks=0,1 lines=1:BARRIER
 * expect: never completed ranks=0
 * cause: finished rank | missing in collective lines=1:BARRIER
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    MPI_Request news;
    int rank, number = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 0)
        MPI_Irecv(&number, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, &news);
    else
        MPI_Barrier(MPI_COMM_WORLD); /* @BARRIER */
    MPI_Finalize();
    return 0;
}
