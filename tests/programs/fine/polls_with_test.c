/* Rank 0 has posted a receive and asks from time to time whether it is done, and computes; rank 1 is slow.
 *
 * ranks: 2
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, done = 0;
    double field[64] = {0};
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 0) {
        MPI_Irecv(field, 64, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD, &request);
        while (!done)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    } else {
        sleep(1500);
        MPI_Send(field, 64, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
