/* Ranks 0 and 1 wait for one another; 2 waits for 1, 3 for 2, 4 for 3, in different ways. The cause is the cycle of 0 and 1.
 *
 * ranks: 5
 * verdict: deadlock
 * expect: deadlock ranks=0,1 lines=0:RECV,1:RECV certain
 * cause: deadlock lines=0:RECV,1:RECV
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, value = 0;
    MPI_Request request;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank < 2)
        MPI_Recv(&value, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @RECV */
    else if (rank == 2)
        MPI_Ssend(&value, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    else if (rank == 3)
        MPI_Probe(2, 3, MPI_COMM_WORLD, &status);
    else {
        MPI_Irecv(&value, 1, MPI_INT, 3, 4, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
