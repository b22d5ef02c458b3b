/* Rank 0 asks again and again whether its receive is done; rank 1 has sent with another tag and waits in the barrier.
 *
 * ranks: 2
 * expect: polling ranks=0 | tag mismatch ranks=0,1 | missing in collective ranks=0 lines=1:BARRIER | deadlock ranks=0,1
 * cause: tag mismatch lines=0:POSTED,1:SENT
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, done = 0;
    double field[64] = {0};
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 0) {
        MPI_Irecv(field, 64, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD, &request); /* @POSTED */
        while (!done)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE); /* @TEST */
    } else {
        MPI_Send(field, 64, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD); /* @SENT */
    }
    MPI_Barrier(MPI_COMM_WORLD); /* @BARRIER */
    MPI_Finalize();
    return 0;
}
