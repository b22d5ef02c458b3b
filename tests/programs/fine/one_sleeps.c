/* Rank 1 waits for a licence, that is, it sleeps and tries again; rank 0 waits for what it will send, rank 2 for rank 0.
 *
 * ranks: 3
 * expect: slow rank ranks=1
 */
#include "common/diagnosed.h"

static int has_licence(int try)
{
    return try > 5000;
}

int main(int argc, char **argv)
{
    int rank, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 1) {
        for (int try = 0; !has_licence(try); try++)
            sleep(1);
        MPI_Send(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    } else if (rank == 0) {
        MPI_Recv(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&value, 1, MPI_INT, 2, 3, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
