/* Rank 1 sends log lines that rank 0 never receives; both then wait for one another.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: deadlock ranks=0,1 lines=0:RESULT,1:START
 * expect: unexpected flood ranks=0 | unmatched send ranks=1 | tag mismatch ranks=0,1
 * cause: deadlock | unexpected flood lines=0:RESULT,1:START
 */
#include "common/diagnosed.h"

#define LINES 3000

int main(int argc, char **argv)
{
    int rank, value = 0, log = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 0) {
        MPI_Recv(&value, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @RESULT */
        MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    } else {
        for (int line = 0; line < LINES; line++)
            MPI_Send(&log, 1, MPI_INT, 0, 100, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @START */
        MPI_Send(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
