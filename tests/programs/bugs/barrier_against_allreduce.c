/* Three ranks reach the barrier of a checkpoint, the fourth has a step more to do.
 *
 * ranks: 4
 * verdict: deadlock
 * expect: collective mismatch ranks=0,3 lines=0:CHECKPOINT,3:STEP
 * cause: collective mismatch lines=0:CHECKPOINT,3:STEP
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, size, steps = 3;
    double residual = 1, largest = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == size - 1)
        steps++;
    diagnosed_ready();
    for (int step = 0; step < steps; step++)
        MPI_Allreduce(&residual, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD); /* @STEP */
    MPI_Barrier(MPI_COMM_WORLD); /* @CHECKPOINT */
    MPI_Finalize();
    return 0;
}
