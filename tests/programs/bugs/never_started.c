/* A persistent receive is started in each step; the persistent send of rank 1 was made and never started: waiting for
 * such a one is over at once, so that nothing tells of it later.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: deadlock ranks=0,1 lines=0:WAIT,1:BARRIER
 * cause: never started lines=1:MADE
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank;
    double value[4] = {0};
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 0) {
        MPI_Recv_init(value, 4, MPI_DOUBLE, 1, 13, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE); /* @WAIT */
    } else {
        MPI_Send_init(value, 4, MPI_DOUBLE, 0, 13, MPI_COMM_WORLD, &request); /* @MADE */
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* @BARRIER */
    MPI_Request_free(&request);
    MPI_Finalize();
    return 0;
}
