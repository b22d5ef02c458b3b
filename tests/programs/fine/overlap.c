/* A halo exchange in a ring that computes while messages are on their way.
 *
 * ranks: 4
 */
#include "common/diagnosed.h"

#define CELLS 4096

int main(int argc, char **argv)
{
    int rank, size;
    static double to[2][CELLS], from[2][CELLS];
    MPI_Request requests[4];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    diagnosed_ready();
    for (int step = 0;; step++) {
        MPI_Irecv(from[0], CELLS, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(from[1], CELLS, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(to[0], CELLS, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(to[1], CELLS, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[3]);
        for (volatile int work = 0; work < 100000 * (1 + (rank + step) % size); work++)
            ;
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
}
