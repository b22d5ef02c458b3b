/* Rank 0 is to receive points of three numbers each, rank 1 sends four numbers: a point and a third of one. Rank 0 computes
 * for ever before it waits for them.
 *
 * ranks: 2
 * expect: count mismatch ranks=0,1 | slow rank ranks=0
 * openmpi expect: count mismatch ranks=0,1 certain
 * expect-not: deadlock, truncation
 * cause: count mismatch | slow rank lines=1:SEND
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    MPI_Request request;
    MPI_Datatype point;
    int rank, points[2][3] = {{0}}, numbers[4] = {0};
    volatile int going_on = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_contiguous(3, MPI_INT, &point);
    MPI_Type_commit(&point);
    diagnosed_ready();
    if (rank == 0) {
        MPI_Irecv(points, 2, point, 1, 4, MPI_COMM_WORLD, &request);
        while (going_on)
            ;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Ssend(numbers, 4, MPI_INT, 0, 4, MPI_COMM_WORLD); /* @SEND */
    }
    MPI_Type_free(&point);
    MPI_Finalize();
    return 0;
}
