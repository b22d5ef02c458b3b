/* Send before receive, which worked as long as the arrays were small enough to be sent eagerly: the first exchange is of
 * a small part and goes well, the second one is of 8 MB.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: deadlock ranks=0,1 lines=0:SEND,1:SEND certain
 * cause: deadlock lines=0:SEND,1:SEND
 */
#include "common/diagnosed.h"

#define CELLS (1 << 20)

static void swap(double *out, double *in, int count, int other)
{
    MPI_Send(out, count, MPI_DOUBLE, other, 11, MPI_COMM_WORLD); /* @SEND */
    MPI_Recv(in, count, MPI_DOUBLE, other, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank;
    double *out = calloc(CELLS, sizeof *out), *in = calloc(CELLS, sizeof *in);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    swap(out, in, 8, 1 - rank);
    diagnosed_ready();
    swap(out, in, CELLS, 1 - rank);
    MPI_Finalize();
    free(out);
    free(in);
    return 0;
}
