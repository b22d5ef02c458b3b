/* As wrong_tag.c, but the message is so large that its sender waits for the receive.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: tag mismatch ranks=0,1 lines=0:RECV,1:SEND words="40","41"
 * expect: deadlock ranks=0,1 lines=0:RECV,1:SEND
 * cause: tag mismatch lines=0:RECV,1:SEND
 */
#include "common/diagnosed.h"

#define CELLS (1 << 19)
#define TAG_OF_STEP(step) (40 + (step))

int main(int argc, char **argv)
{
    int rank;
    double *matrix = calloc(CELLS, sizeof *matrix);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 0)
        MPI_Recv(matrix, CELLS, MPI_DOUBLE, 1, TAG_OF_STEP(0), MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @RECV */
    else
        MPI_Send(matrix, CELLS, MPI_DOUBLE, 0, TAG_OF_STEP(1), MPI_COMM_WORLD); /* @SEND */
    MPI_Finalize();
    free(matrix);
    return 0;
}
