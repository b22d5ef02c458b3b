/* A halo exchange of two ranks: both receive before they send.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: deadlock ranks=0,1 lines=0:RECV,1:RECV certain
 * cause: deadlock lines=0:RECV,1:RECV
 */
#include "common/diagnosed.h"

#define CELLS 100

static void exchange(double *field, int other, MPI_Comm comm)
{
    MPI_Recv(field, 1, MPI_DOUBLE, other, 7, comm, MPI_STATUS_IGNORE); /* @RECV */
    MPI_Send(field + 1, 1, MPI_DOUBLE, other, 7, comm);
}

int main(int argc, char **argv)
{
    double field[CELLS] = {0};
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    for (int step = 0; step < 10; step++)
        exchange(field, 1 - rank, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
