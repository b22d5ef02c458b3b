/* Rank 0 computes, and does not come to MPI meanwhile: what rank 1 has sent lies in front of it, and rank 1 waits for its answer.
 *
 * ranks: 2
 * expect: slow rank ranks=0
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, values[3] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    diagnosed_ready();
    if (rank == 0) {
        sleep(1500);
        for (int i = 0; i < 3; i++)
            MPI_Recv(&values[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(values, 3, MPI_INT, 1, 3, MPI_COMM_WORLD);
    } else {
        sleep(1);
        for (int i = 0; i < 3; i++)
            MPI_Send(&values[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD);
        MPI_Recv(values, 3, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
