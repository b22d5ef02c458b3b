/* The master has handed out all work and finished without telling rank 2, which asks for more.
 *
 * ranks: 3
 * verdict: deadlock
 * expect: finished rank ranks=0 lines=2:WORK certain
 * cause: finished rank lines=0:END,2:WORK
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, size, piece;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    diagnosed_ready();
    if (rank == 0) {
        for (piece = 0; piece < 6; piece++)
            MPI_Send(&piece, 1, MPI_INT, 1 + piece % 2, 1, MPI_COMM_WORLD);
        piece = -1;
        /* The last worker is size - 1, not size - 2. */
        for (int worker = 1; worker < size - 1; worker++)
            MPI_Send(&piece, 1, MPI_INT, worker, 1, MPI_COMM_WORLD);
    } else {
        do
            MPI_Recv(&piece, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @WORK */
        while (piece >= 0);
    }
    MPI_Finalize(); /* @END */
    return 0;
}
