/* A producer is far ahead of its consumer, which takes what has piled up at its own speed.
 *
 * ranks: 2
 * may: unexpected flood
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, value, count = 300;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    for (int i = 0; i < count; i++)
        if (rank == 0) {
            MPI_Send(&i, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            usleep(1000000);
        }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
