/* Rank 1 has nothing more to do and is in MPI_Finalize; rank 0 waits for one message more of it.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: finished rank ranks=1 lines=0:RECV certain
 * cause: finished rank lines=0:RECV,1:END
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, value = 0, steps = 4;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 0) {
        for (int step = 0; step <= steps; step++)
            MPI_Recv(&value, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @RECV */
    } else {
        for (int step = 0; step < steps; step++)
            MPI_Send(&step, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
    MPI_Finalize(); /* @END */
    return 0;
}
