/* Rank 0 posts a send in each step, and never waits for any: the requests pile up. Rank 1 has stopped receiving after a
 * while and waits for a number that rank 0 sends only at the end, in its turn after an answer of rank 1.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: deadlock ranks=0,1 lines=0:ANSWER,1:LAST
 * expect: unmatched send ranks=0 | unmatched send ranks=0,1 | never completed ranks=0 | tag mismatch ranks=0,1 | unexpected flood ranks=1
 * cause: deadlock lines=0:ANSWER,1:LAST
 */
#include "common/diagnosed.h"

#define STEPS 60
#define CELLS 20000

int main(int argc, char **argv)
{
    int rank, answer = 0;
    static double blocks[STEPS][CELLS];
    MPI_Request requests[STEPS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 0) {
        for (int step = 0; step < STEPS; step++)
            MPI_Isend(blocks[step], CELLS, MPI_DOUBLE, 1, 5, MPI_COMM_WORLD, &requests[step]);
        MPI_Recv(&answer, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @ANSWER */
        MPI_Send(&answer, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
        MPI_Waitall(STEPS, requests, MPI_STATUSES_IGNORE);
    } else {
        for (int step = 0; step < 10; step++)
            MPI_Recv(blocks[step], CELLS, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&answer, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @LAST */
        MPI_Send(&answer, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
