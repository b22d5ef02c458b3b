/* The last thread of rank 1's team waits for rank 0's message before it comes to the team's barrier. Rank 0 waits first for a
 * message that rank 1 sends when the team is done.
 *
 * ranks: 2
 * flags: -fopenmp
 * verdict: deadlock
 * expect: deadlock ranks=0,1 lines=0:DONE,1:RECV
 * cause: deadlock lines=0:DONE,1:RECV
 */
#include "common/diagnosed.h"
#include <omp.h>

static double work[3];

int main(int argc, char **argv)
{
    int rank, provided, done = 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 1) {
#pragma omp parallel num_threads(3)
        {
            int me = omp_get_thread_num();
            if (me == 2)
                MPI_Recv(&work[me], 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @RECV */
#pragma omp barrier
            work[me] += work[2];
        }
        MPI_Send(&done, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&done, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @DONE */
        MPI_Send(work, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
