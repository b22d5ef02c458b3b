/* An iteration to convergence with ranks that need unlike time for a step.
 *
 * ranks: 3
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank;
    double residual, largest;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    for (;;) {
        residual = rank;
        for (volatile int i = 0; i < 20000 * (rank + 1); i++)
            residual += 1e-9;
        MPI_Allreduce(&residual, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        MPI_Reduce(&residual, &largest, 1, MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD);
    }
}
