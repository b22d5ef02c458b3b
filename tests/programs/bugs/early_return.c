/* A rank that finds an error in its input leaves the function before its collective call, and is done; the others wait in
 * the collective one.
 *
 * ranks: 3
 * verdict: deadlock
 * expect: finished rank ranks=2 lines=0:SUM | missing in collective ranks=2 lines=0:SUM
 * cause: missing in collective | finished rank lines=0:SUM,2:END
 */
#include "common/diagnosed.h"

static int solve(int input)
{
    int converged = 1, all;
    if (input > 1)
        return 1;
    MPI_Allreduce(&converged, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD); /* @SUM */
    return !all;
}

int main(int argc, char **argv)
{
    int rank, failed;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    failed = solve(rank);
    MPI_Finalize(); /* @END */
    return failed;
}
