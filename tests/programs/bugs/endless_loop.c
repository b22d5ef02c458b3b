/* An iteration that does not converge on rank 1 (the step is too small to change x). Nothing tells it from a long computation.
 *
 * ranks: 3
 * verdict: waiting
 * expect: slow rank ranks=1 lines=0:SUM,2:SUM
 * expect-not: deadlock
 * cause: slow rank lines=0:SUM,2:SUM
 */
#include "common/diagnosed.h"

static double solve(double x, double step)
{
    /* One line: wherever in it the rank is met, that is told. */
    for (; x < 1e9; x += step);
    return x;
}

int main(int argc, char **argv)
{
    int rank;
    double x, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    x = solve(9e8, rank == 1 ? 1e-9 : 1e6);
    MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* @SUM */
    MPI_Finalize();
    return 0;
}
