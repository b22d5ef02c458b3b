/* Rank 1 comes into a critical section of OpenMP in which one of its threads is already: a function that has the section calls
 * another one that has it, too. Its other threads wait for the section or at the end of the loop, the other ranks in a barrier.
 *
 * ranks: 3
 * flags: -fopenmp
 * expect: stuck outside MPI ranks=1 lines=0:BARRIER,2:BARRIER
 * expect-not: deadlock
 * cause: stuck outside MPI lines=0:BARRIER,2:BARRIER
 */
#include "common/diagnosed.h"

static double sum, largest;

static void note(double value)
{
#pragma omp critical
    largest = value > largest ? value : largest;
}

static void add(double value)
{
#pragma omp critical
    {
        sum += value;
        note(value);
    }
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 1) {
#pragma omp parallel for num_threads(3)
        for (int i = 0; i < 30; i++)
            add(i);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* @BARRIER */
    MPI_Finalize();
    return 0;
}
