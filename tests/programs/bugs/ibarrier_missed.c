/* A nonblocking barrier that rank 2 does not enter: it waits for a message of rank 1, which comes after the barrier.
 *
 * ranks: 3
 * verdict: deadlock
 * expect: deadlock ranks=1,2 lines=1:WAIT,2:RECV
 * expect: missing in collective ranks=2 lines=0:WAIT,2:RECV certain words="rank 2 has not started","MPI_COMM_WORLD"
 * expect-not: collective mismatch
 * cause: missing in collective lines=2:RECV
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, value = 0;
    MPI_Request barrier;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 2) {
        MPI_Recv(&value, 1, MPI_INT, 1, 31, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @RECV */
        MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    } else {
        MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    }
    MPI_Wait(&barrier, MPI_STATUS_IGNORE); /* @WAIT */
    if (rank == 1)
        MPI_Send(&value, 1, MPI_INT, 2, 31, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
