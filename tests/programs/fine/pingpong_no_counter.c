/* A ping-pong in which nothing of the program changes from one turn to the next: no counter, no contents. A third rank
 * waits in a barrier for the end.
 *
 * ranks: 3
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank;
    char byte = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    while (rank < 2) {
        if (rank == 0)
            MPI_Ssend(&byte, 1, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(&byte, 1, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Ssend(&byte, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
