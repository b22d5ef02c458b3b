/* The main thread of rank 0 waits at the end of a loop of OpenMP for another thread, whose part takes long; rank 1 waits for the
 * result.
 *
 * ranks: 2
 * flags: -fopenmp
 * expect: slow rank ranks=0
 */
#include "common/diagnosed.h"

static void compute(int part)
{
    /* Not the one of the main thread. */
    long rounds = part == 1 ? 1000000000000 : 1000;
    for (volatile long work = 0; work < rounds; work++)
        ;
}

int main(int argc, char **argv)
{
    int rank, provided, result = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 0) {
#pragma omp parallel for num_threads(2) schedule(static)
        for (int part = 0; part < 2; part++)
            compute(part);
        MPI_Send(&result, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&result, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
