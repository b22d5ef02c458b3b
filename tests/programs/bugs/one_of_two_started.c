/* Both ranks have a persistent receive and a persistent send, but start the first of the two only (MPI_Start, where
 * MPI_Startall was meant), and wait for both.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: never started ranks=0 lines=0:WAIT certain words="was not started"
 * expect: never started ranks=1 lines=1:WAIT certain words="was not started"
 * expect: deadlock ranks=0,1 lines=0:WAIT,1:WAIT certain
 * cause: never started lines=0:MADE
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank;
    double in[4] = {0}, out[4] = {0};
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Recv_init(in, 4, MPI_DOUBLE, 1 - rank, 13, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, 4, MPI_DOUBLE, 1 - rank, 13, MPI_COMM_WORLD, &requests[1]); /* @MADE */
    diagnosed_ready();
    for (int step = 0; step < 5; step++) {
        MPI_Start(requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* @WAIT */
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Finalize();
    return 0;
}
