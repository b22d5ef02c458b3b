/* A ping-pong of messages of 4 MB, which go by rendezvous.
 *
 * ranks: 2
 */
#include "common/diagnosed.h"

#define CELLS (1 << 19)

int main(int argc, char **argv)
{
    int rank;
    double *values = calloc(CELLS, sizeof *values);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    for (;;) {
        if (rank == 0) {
            MPI_Send(values, CELLS, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(values, CELLS, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(values, CELLS, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(values, CELLS, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
        }
    }
}
