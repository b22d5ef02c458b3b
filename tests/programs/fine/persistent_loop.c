/* A halo exchange with persistent requests; one rank is slower.
 *
 * ranks: 3
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, size;
    double to[2][32] = {{0}}, from[2][32] = {{0}};
    MPI_Request requests[4];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    MPI_Recv_init(from[0], 32, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(from[1], 32, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Send_init(to[0], 32, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Send_init(to[1], 32, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[3]);
    diagnosed_ready();
    for (;;) {
        MPI_Startall(4, requests);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        if (rank == 1)
            usleep(5000);
    }
}
