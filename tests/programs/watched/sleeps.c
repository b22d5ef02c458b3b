/* Rank 1 sleeps in one system call, or in many; rank 0 waits for it.
 *
 * ranks: 2
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, seconds = argc > 1 ? atoi(argv[1]) : 1500, each = argc > 2 ? atoi(argv[2]) : 1500;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 1)
        for (int slept = 0; slept < seconds; slept += each)
            sleep(each);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
