/* A ping-pong of small messages: both ranks stand in MPI_Recv most of the time.
 *
 * ranks: 2
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank;
    double value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    for (;;) {
        if (rank == 0) {
            MPI_Send(&value, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(&value, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&value, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&value, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
        }
    }
}
