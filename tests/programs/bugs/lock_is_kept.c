/* Rank 1 locks rank 0's memory and never unlocks it; ranks 0, 2 and 3 wait for the lock before they come to the barrier in which
 * rank 1 waits. Whether they stand in MPI_Win_lock or in what needs the lock first is the library's choice.
 *
 * ranks: 4
 * expect: one-sided epochs ranks=0,2,3 | deadlock
 * cause: one-sided epochs lines=1:BARRIER
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank;
    double *memory, one = 1;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(64, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Put(&one, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window);
        MPI_Win_flush(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    diagnosed_ready();
    if (rank != 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window); /* @LOCK */
        MPI_Put(&one, 1, MPI_DOUBLE, 0, 1, 1, MPI_DOUBLE, window);
        MPI_Win_unlock(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* @BARRIER */
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
