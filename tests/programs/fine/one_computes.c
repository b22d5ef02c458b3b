/* Rank 2 has more to compute than the others, who wait for it in the barrier.
 *
 * ranks: 3
 * expect: slow rank ranks=2
 */
#include "common/diagnosed.h"

static double integrate(long steps)
{
    double sum = 0;
    for (long i = 0; i < steps; i++) {
        double x = (i + 0.5) / steps;
        sum += 4 / (1 + x * x);
    }
    return sum / steps;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    double part = integrate(rank == 2 ? 1000000000000 : 1000);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%g\n", part);
    MPI_Finalize();
    return 0;
}
