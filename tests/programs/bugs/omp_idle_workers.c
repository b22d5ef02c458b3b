/* A halo exchange in which both ranks receive before they send, after a loop of OpenMP, whose threads wait for the next loop.
 *
 * ranks: 2
 * flags: -fopenmp
 * verdict: deadlock
 * expect: deadlock ranks=0,1 lines=0:RECV,1:RECV certain
 * cause: deadlock lines=0:RECV,1:RECV
 */
#include "common/diagnosed.h"

#define CELLS 3000

static double field[CELLS];

static void compute(void)
{
#pragma omp parallel for num_threads(3)
    for (int i = 0; i < CELLS; i++)
        field[i] = 0.5 * (field[i] + i);
}

int main(int argc, char **argv)
{
    int rank, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    for (int step = 0; step < 10; step++) {
        compute();
        MPI_Recv(field, 1, MPI_DOUBLE, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @RECV */
        MPI_Send(field + 1, 1, MPI_DOUBLE, 1 - rank, 7, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
