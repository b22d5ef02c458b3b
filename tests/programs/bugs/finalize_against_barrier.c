/* Rank 0 leaves the main loop one step early and finishes, the others are in the barrier of the last step.
 *
 * ranks: 3
 * verdict: deadlock
 * expect: finished rank ranks=0 lines=1:STEP | missing in collective ranks=0 lines=1:STEP
 * cause: missing in collective | finished rank lines=0:END,1:STEP
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    for (int step = 0; step < (rank == 0 ? 4 : 5); step++)
        MPI_Barrier(MPI_COMM_WORLD); /* @STEP */
    MPI_Finalize(); /* @END */
    return 0;
}
