/* A pipeline of five stages, of which the third one takes longest: those behind it wait for it, those before it run into
 * the limit of what is sent ahead.
 *
 * ranks: 5
 */
#include "common/diagnosed.h"

#define CELLS 512

int main(int argc, char **argv)
{
    int rank, size;
    double block[CELLS] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    diagnosed_ready();
    for (int step = 0;; step++) {
        if (rank > 0)
            MPI_Recv(block, CELLS, MPI_DOUBLE, rank - 1, step % 100, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 2)
            usleep(30000);
        for (int i = 0; i < CELLS; i++)
            block[i] += rank + step;
        if (rank < size - 1)
            MPI_Ssend(block, CELLS, MPI_DOUBLE, rank + 1, step % 100, MPI_COMM_WORLD);
    }
}
