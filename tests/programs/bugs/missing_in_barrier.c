/* The barrier stands in a branch that rank 0 does not take; it waits for a message that the others send after it.
 *
 * ranks: 3
 * verdict: deadlock
 * expect: missing in collective ranks=0 lines=1:BARRIER,2:BARRIER | deadlock ranks=0,1 lines=0:RECV,1:BARRIER
 * cause: missing in collective | deadlock lines=0:RECV,1:BARRIER
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, size, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    diagnosed_ready();
    if (rank != 0) {
        MPI_Barrier(MPI_COMM_WORLD); /* @BARRIER */
        MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    } else {
        for (int other = 1; other < size; other++)
            MPI_Recv(&value, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @RECV */
    }
    MPI_Finalize();
    return 0;
}
