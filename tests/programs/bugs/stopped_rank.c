/* Rank 1 stopped itself, as a job of a shell that reads from the terminal does; the others wait for it.
 *
 * ranks: 3
 * expect: stuck outside MPI ranks=1 lines=0:BARRIER,2:BARRIER
 * expect-not: deadlock
 * cause: stuck outside MPI lines=0:BARRIER,2:BARRIER
 */
#include "common/diagnosed.h"

#include <signal.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 1)
        raise(SIGSTOP);
    MPI_Barrier(MPI_COMM_WORLD); /* @BARRIER */
    MPI_Finalize();
    return 0;
}
