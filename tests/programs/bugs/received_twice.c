/* A receive is posted in the set-up and again in the step; there is one message. The second one waits for ever.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: deadlock ranks=0,1 lines=0:WAIT,1:BARRIER
 * cause: missing in collective | deadlock | unmatched receive lines=0:POSTED,1:BARRIER
 */
#include "common/diagnosed.h"

static void post(double *field, MPI_Request *request)
{
    MPI_Irecv(field, 8, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD, request); /* @POSTED */
}

int main(int argc, char **argv)
{
    int rank;
    double field[2][8] = {{0}};
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        post(field[0], &requests[0]);
    diagnosed_ready();
    if (rank == 0) {
        post(field[1], &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* @WAIT */
    } else {
        MPI_Send(field[0], 8, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* @BARRIER */
    MPI_Finalize();
    return 0;
}
