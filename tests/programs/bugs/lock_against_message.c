/* Rank 0 holds the lock of rank 2's memory and waits for a message of rank 1, which waits for that lock.
 * Whether rank 1 stands in MPI_Win_lock or in what needs the lock first is the library's choice.
 *
 * ranks: 3
 * expect: one-sided epochs ranks=0,1 | deadlock ranks=0,1 lines=0:RECV
 * cause: one-sided epochs | deadlock lines=0:RECV,1:LOCK
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, value = 0;
    double *memory, one = 1;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(64, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, window);
        MPI_Put(&one, 1, MPI_DOUBLE, 2, 0, 1, MPI_DOUBLE, window);
        MPI_Win_flush(2, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    diagnosed_ready();
    if (rank == 0) {
        MPI_Recv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @RECV */
        MPI_Win_unlock(2, window);
    } else if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, window); /* @LOCK */
        MPI_Put(&one, 1, MPI_DOUBLE, 2, 1, 1, MPI_DOUBLE, window);
        MPI_Win_unlock(2, window);
        MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
