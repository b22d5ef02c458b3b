/* Rank 0 takes pieces of the memory of rank 1, which computes all the time; rank 2 waits for the end.
 *
 * ranks: 3
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank;
    double *memory, value = 0;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(1024 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    diagnosed_ready();
    if (rank == 0)
        for (int i = 0;; i++) {
            MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
            MPI_Get(&value, 1, MPI_DOUBLE, 1, i % 1024, 1, MPI_DOUBLE, window);
            MPI_Win_unlock(1, window);
        }
    if (rank == 1)
        for (volatile long work = 0; work < 1000000000000; work++)
            ;
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
