/* Rank 1 looks again and again at a flag in memory that both ranks share; rank 0 raises it only behind a barrier.
 *
 * ranks: 2
 * verdict: waiting
 * expect: slow rank ranks=1 lines=0:BARRIER
 * expect-not: deadlock
 * cause: slow rank lines=0:BARRIER
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, unit;
    MPI_Aint size;
    MPI_Win window;
    volatile int *flag;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate_shared(rank == 0 ? sizeof *flag : 0, sizeof *flag, MPI_INFO_NULL, MPI_COMM_WORLD, &flag, &window);
    MPI_Win_shared_query(window, 0, &size, &unit, &flag);
    diagnosed_ready();
    while (rank == 1 && *flag == 0);
    MPI_Barrier(MPI_COMM_WORLD); /* @BARRIER */
    *flag = 1;
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
