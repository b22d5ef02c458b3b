/* Steps of one-sided communication between fences.
 *
 * ranks: 3
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, size;
    double *memory, value = 0;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(64 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    diagnosed_ready();
    for (int step = 0;; step++) {
        MPI_Win_fence(0, window);
        value = step;
        MPI_Put(&value, 1, MPI_DOUBLE, (rank + 1) % size, rank, 1, MPI_DOUBLE, window);
    }
}
