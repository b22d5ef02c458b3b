/* The master waits for one result more than the workers have sent: all have got their end and are in MPI_Finalize.
 *
 * ranks: 3
 * verdict: deadlock
 * expect: finished rank ranks=1,2 lines=0:RESULT
 * cause: finished rank lines=0:RESULT,1:END,2:END
 */
#include "common/diagnosed.h"

enum { WORK = 1, RESULT = 2, END = 3, PIECES = 10 };

int main(int argc, char **argv)
{
    int rank, size, piece = 0, sent = 0;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    diagnosed_ready();
    if (rank == 0) {
        for (int worker = 1; worker < size; worker++)
            MPI_Send(&sent, 1, MPI_INT, worker, sent < PIECES ? WORK : END, MPI_COMM_WORLD), sent++;
        for (int got = 0; got <= PIECES; got++) {
            MPI_Recv(&piece, 1, MPI_INT, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status); /* @RESULT */
            MPI_Send(&sent, 1, MPI_INT, status.MPI_SOURCE, sent < PIECES ? WORK : END, MPI_COMM_WORLD);
            sent++;
        }
    } else {
        for (;;) {
            MPI_Recv(&piece, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            if (status.MPI_TAG == END)
                break;
            MPI_Send(&piece, 1, MPI_INT, 0, RESULT, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize(); /* @END */
    return 0;
}
